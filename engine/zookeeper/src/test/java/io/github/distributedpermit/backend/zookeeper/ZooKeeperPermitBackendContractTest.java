package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.contract.ExpiryLaws;
import io.github.distributedpermit.contract.OperatorLaws;
import io.github.distributedpermit.contract.PermitBackendContract;
import io.github.distributedpermit.contract.StoreFixture;
import java.io.IOException;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class ZooKeeperPermitBackendContractTest extends PermitBackendContract implements OperatorLaws, ExpiryLaws {

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
    protected StoreFixture open() {
        return new ZooKeeperFixture(server.getConnectString());
    }
}
