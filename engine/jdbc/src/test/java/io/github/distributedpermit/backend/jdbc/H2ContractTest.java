package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.contract.ExpiryLaws;
import io.github.distributedpermit.contract.OperatorLaws;
import io.github.distributedpermit.contract.PermitBackendContract;
import io.github.distributedpermit.contract.StoreFixture;

class H2ContractTest extends PermitBackendContract implements OperatorLaws, ExpiryLaws {

    private final Database database = H2.database();

    @Override
    protected StoreFixture open() {
        return new JdbcFixture(database);
    }
}
