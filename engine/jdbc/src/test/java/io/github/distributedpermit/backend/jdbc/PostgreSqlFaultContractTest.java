package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;

class PostgreSqlFaultContractTest extends PermitBackendFaultContract {

    private final Database database = PostgreSql.database();

    @Override
    protected StoreFixture openPlain() {
        return new JdbcFixture(database);
    }
}
