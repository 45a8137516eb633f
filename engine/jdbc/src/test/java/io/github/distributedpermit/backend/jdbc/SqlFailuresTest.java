package io.github.distributedpermit.backend.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.spi.PermitStoreException;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mariadb.jdbc.MariaDbDataSource;

/** Failures that MySQL and MariaDB report with the SQLState of a missing table. */
class SqlFailuresTest {

    @Test
    void missingDatabaseOfMariaDbIsNoMissingTable() throws SQLException {
        MariaDbDataSource source = (MariaDbDataSource) MariaDb.database().source();
        source.setUrl(source.getUrl().replace("/permits", "/missing"));
        JdbcPermitBackend backend = new JdbcPermitBackend(
                source,
                "",
                JdbcSettings.of("p", JdbcSettings.DEFAULT_TABLE_PREFIX, Duration.ofSeconds(20), Duration.ofSeconds(5)));

        assertThatExceptionOfType(PermitStoreException.class)
                .isThrownBy(backend::checkTables)
                .withMessageContaining("missing")
                .matches(e -> !e.isPermanent())
                .withRootCauseInstanceOf(SQLException.class)
                .havingRootCause()
                .matches(e -> e instanceof SQLException cause && cause.getErrorCode() == 1049);
    }

    @ParameterizedTest
    @ValueSource(ints = {1044, 1049, 1203, 1226})
    void refusedConnectionOfMariaDbIsPassing(int code) {
        SQLException refused = new SQLException("Refused", "42000", code);
        assertThat(SqlFailures.translate(refused, "distributed_permit_key").isPermanent())
                .isFalse();
    }
}
