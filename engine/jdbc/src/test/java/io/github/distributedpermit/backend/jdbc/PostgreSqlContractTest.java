package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.contract.ExpiryLaws;
import io.github.distributedpermit.contract.OperatorLaws;
import io.github.distributedpermit.contract.PermitBackendContract;
import io.github.distributedpermit.contract.StoreFixture;

class PostgreSqlContractTest extends PermitBackendContract implements OperatorLaws, ExpiryLaws {

    private final Database database = PostgreSql.database();

    @Override
    protected StoreFixture open() {
        return new JdbcFixture(database);
    }
}
