package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;
import org.junit.jupiter.api.Tag;

@Tag("slow")
class LockFileFaultContractTest extends PermitBackendFaultContract {

    @Override
    protected StoreFixture openPlain() {
        return new ConsulFixture(SharedConsul.get(), ConsulLayout.LOCK_FILE);
    }
}
