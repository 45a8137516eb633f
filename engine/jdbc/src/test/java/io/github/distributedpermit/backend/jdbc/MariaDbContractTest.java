package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.contract.ExpiryLaws;
import io.github.distributedpermit.contract.OperatorLaws;
import io.github.distributedpermit.contract.PermitBackendContract;
import io.github.distributedpermit.contract.StoreFixture;

class MariaDbContractTest extends PermitBackendContract implements OperatorLaws, ExpiryLaws {

    private final Database database = MariaDb.database();

    @Override
    protected StoreFixture open() {
        return new JdbcFixture(database);
    }
}
