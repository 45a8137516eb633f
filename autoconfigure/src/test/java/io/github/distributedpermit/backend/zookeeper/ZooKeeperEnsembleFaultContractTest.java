package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;
import java.io.IOException;
import org.apache.curator.test.TestingCluster;
import org.junit.jupiter.api.AfterAll;

class ZooKeeperEnsembleFaultContractTest extends PermitBackendFaultContract {

    private static final TestingCluster ENSEMBLE = Servers.ensemble();

    @AfterAll
    static void stopServers() throws IOException {
        ENSEMBLE.close();
    }

    @Override
    protected StoreFixture openPlain() {
        return new ZooKeeperFixture(ENSEMBLE.getConnectString());
    }
}
