package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.contract.OperatorLaws;
import io.github.distributedpermit.contract.PermitBackendContract;
import io.github.distributedpermit.contract.StoreFixture;

class LockFileContractTest extends PermitBackendContract implements OperatorLaws {

    @Override
    protected StoreFixture open() {
        return new ConsulFixture(SharedConsul.get(), ConsulLayout.LOCK_FILE);
    }
}
