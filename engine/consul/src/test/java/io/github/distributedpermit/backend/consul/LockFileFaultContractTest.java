package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;

class LockFileFaultContractTest extends PermitBackendFaultContract {

    @Override
    protected StoreFixture openPlain() {
        return new ConsulFixture(SharedConsul.get(), ConsulLayout.LOCK_FILE);
    }
}
