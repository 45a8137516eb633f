package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;

class PostgreSql15FaultContractTest extends PermitBackendFaultContract {

    private final Database database = PostgreSql15.database();

    @Override
    protected StoreFixture openPlain() {
        return new JdbcFixture(database);
    }
}
