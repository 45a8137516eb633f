package io.github.distributedpermit.backend.local;

import io.github.distributedpermit.contract.LeasedBackendContract;
import io.github.distributedpermit.contract.OperatorLaws;
import io.github.distributedpermit.contract.StoreFixture;

class LocalPermitBackendContractTest extends LeasedBackendContract implements OperatorLaws {

    @Override
    protected StoreFixture open() {
        return new LocalFixture();
    }
}
