package io.github.distributedpermit.backend.h2;

import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;
import java.sql.SQLException;

/** The one test class of the example: each law, behind a network that loses, delays and doubles messages. */
class H2ContractTest extends PermitBackendFaultContract {

    @Override
    protected StoreFixture openPlain() {
        try {
            return new H2Fixture();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
