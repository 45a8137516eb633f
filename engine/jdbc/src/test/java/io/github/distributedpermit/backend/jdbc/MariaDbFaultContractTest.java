package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;

class MariaDbFaultContractTest extends PermitBackendFaultContract {

    private final Database database = MariaDb.database();

    @Override
    protected StoreFixture openPlain() {
        return new JdbcFixture(database);
    }
}
