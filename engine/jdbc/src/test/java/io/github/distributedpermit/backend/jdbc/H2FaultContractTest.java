package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;

class H2FaultContractTest extends PermitBackendFaultContract {

    private final Database database = H2.database();

    @Override
    protected StoreFixture openPlain() {
        return new JdbcFixture(database);
    }
}
