package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;
import java.io.IOException;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class ZooKeeperFaultContractTest extends PermitBackendFaultContract {

    private static TestingServer server;

    @BeforeAll
    static void start() {
        server = Servers.single(Servers.LONG_TICK_MILLIS);
    }

    @AfterAll
    static void stopServer() throws IOException {
        server.close();
    }

    @Override
    protected StoreFixture openPlain() {
        return new ZooKeeperFixture(server.getConnectString());
    }
}
