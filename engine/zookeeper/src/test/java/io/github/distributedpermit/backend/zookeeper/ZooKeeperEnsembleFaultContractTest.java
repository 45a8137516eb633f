package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;
import java.io.IOException;
import org.apache.curator.test.TestingCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract with faults on three servers. One server runs it in every build ({@link ZooKeeperFaultContractTest}). */
@Tag("slow")
class ZooKeeperEnsembleFaultContractTest extends PermitBackendFaultContract {

    private static TestingCluster ensemble;

    @BeforeAll
    static void start() {
        ensemble = Servers.ensemble(Servers.LONG_TICK_MILLIS);
    }

    @AfterAll
    static void stopServers() throws IOException {
        ensemble.close();
    }

    @Override
    protected StoreFixture openPlain() {
        return new ZooKeeperFixture(ensemble.getConnectString());
    }
}
