package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.contract.PermitBackendContract;
import io.github.distributedpermit.contract.StoreFixture;
import java.io.IOException;
import org.apache.curator.test.TestingCluster;
import org.junit.jupiter.api.AfterAll;

/** Three servers; members and observer are connected to different ones. */
class ZooKeeperEnsembleContractTest extends PermitBackendContract {

    private static final TestingCluster ENSEMBLE = Servers.ensemble();

    @AfterAll
    static void stopServers() throws IOException {
        ENSEMBLE.close();
    }

    @Override
    protected StoreFixture open() {
        return new ZooKeeperFixture(ENSEMBLE.getConnectString());
    }
}
