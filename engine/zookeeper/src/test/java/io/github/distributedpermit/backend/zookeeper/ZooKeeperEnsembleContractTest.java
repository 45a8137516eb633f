package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.contract.PermitBackendContract;
import io.github.distributedpermit.contract.StoreFixture;
import java.io.IOException;
import org.apache.curator.test.TestingCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Three servers; members and observer are connected to different ones. */
@Tag("slow")
class ZooKeeperEnsembleContractTest extends PermitBackendContract {

    private static TestingCluster ensemble;

    @BeforeAll
    static void startServers() {
        ensemble = Servers.ensemble(Servers.LONG_TICK_MILLIS);
    }

    @AfterAll
    static void stopServers() throws IOException {
        ensemble.close();
    }

    @Override
    protected StoreFixture open() {
        return new ZooKeeperFixture(ensemble.getConnectString());
    }
}
