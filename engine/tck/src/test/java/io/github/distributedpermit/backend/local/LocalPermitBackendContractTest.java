package io.github.distributedpermit.backend.local;

import io.github.distributedpermit.contract.LeasedBackendContract;
import io.github.distributedpermit.contract.StoreFixture;

class LocalPermitBackendContractTest extends LeasedBackendContract {

    @Override
    protected StoreFixture open() {
        return new LocalFixture();
    }
}
