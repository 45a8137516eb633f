package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.contract.PermitBackendContract;
import io.github.distributedpermit.contract.StoreFixture;
import java.io.IOException;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;

class ZooKeeperPermitBackendContractTest extends PermitBackendContract {

    private static final TestingServer SERVER = Servers.single();

    @AfterAll
    static void stopServer() throws IOException {
        SERVER.close();
    }

    @Override
    protected StoreFixture open() {
        return new ZooKeeperFixture(SERVER.getConnectString());
    }
}
