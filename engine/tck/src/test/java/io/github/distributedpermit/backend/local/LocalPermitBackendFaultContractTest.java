package io.github.distributedpermit.backend.local;

import io.github.distributedpermit.contract.LeasedBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;

class LocalPermitBackendFaultContractTest extends LeasedBackendFaultContract {

    @Override
    protected StoreFixture openPlain() {
        return new LocalFixture();
    }
}
