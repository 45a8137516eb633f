package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;
import org.junit.jupiter.api.Tag;

/** Slow, since the faults are between the core and the store: those of another version meet the same statements. */
@Tag("slow")
class PostgreSql15FaultContractTest extends PermitBackendFaultContract {

    private final Database database = PostgreSql15.database();

    @Override
    protected StoreFixture openPlain() {
        return new JdbcFixture(database);
    }
}
