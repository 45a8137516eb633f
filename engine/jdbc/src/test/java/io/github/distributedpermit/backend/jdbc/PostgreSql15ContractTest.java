package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.contract.OperatorLaws;
import io.github.distributedpermit.contract.PermitBackendContract;
import io.github.distributedpermit.contract.StoreFixture;

class PostgreSql15ContractTest extends PermitBackendContract implements OperatorLaws {

    private final Database database = PostgreSql15.database();

    @Override
    protected StoreFixture open() {
        return new JdbcFixture(database);
    }
}
