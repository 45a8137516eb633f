package io.github.distributedpermit.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedpermit.backend.jdbc.OwnConnections;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/**
 * The database that stores the permits, and where their two connections to it come from. They are not those of the application's
 * pool, which calls that wait for permits may have emptied: a pool of the same kind is made beside it.
 */
final class PermitDatabase implements AutoCloseable {

    private static final Log log = LogFactory.getLog(PermitDatabase.class);
    private static final boolean HIKARI =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", PermitDatabase.class.getClassLoader());
    private static final int CONNECTIONS = 2;

    /** Hikari accepts no shorter time. */
    private static final int SHORTEST_CONNECTION_MILLIS = 250;

    /** How long a failure to connect answers further attempts, so that claims behind the first one have its reason in time. */
    private static final long FAILED_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final DataSource source;
    private final PermitSchema schema;

    private PermitDatabase(DataSource source, PermitSchema schema) {
        this.source = source;
        this.schema = schema;
    }

    static PermitDatabase of(DataSource application, Duration commandTimeout, PermitSchema schema) {
        if (DataSourceUnwrapper.unwrap(application, AbstractRoutingDataSource.class) != null) {
            throw new UnusableBackendException(
                    "Permits are to live in the database of a data source that routes each call to one of several",
                    "Mark the DataSource bean of one database with @PermitDataSource");
        }
        if (HIKARI) {
            HikariDataSource pool = DataSourceUnwrapper.unwrap(application, HikariDataSource.class);
            if (pool != null) {
                return new PermitDatabase(new OwnPool(pool, commandTimeout), schema);
            }
        }
        log.warn(
                "Permits keep %d connections of the application's data source %s open, since it is no HikariDataSource; make its pool larger by that"
                        .formatted(CONNECTIONS, application.getClass().getName()));
        return new PermitDatabase(application, schema);
    }

    /** Creates the tables, if they are to be created, before it hands out a connection. */
    DataSource connections() {
        return source instanceof OwnPool ? new OwnWithTables(source, schema) : new WithTables(source, schema);
    }

    /** Where the database is, for people; without user and password. Empty if it is not known. */
    String address() {
        String url = source instanceof OwnPool own ? own.pool().getJdbcUrl() : null;
        return url == null
                ? ""
                : url.replaceFirst("^jdbc:", "").replaceFirst("[?;].*$", "").replaceFirst("//.*@", "//");
    }

    /** Whether only this process uses the database, as far as is known: H2 without a server. */
    boolean isPrivate() {
        try (Connection connection = source.getConnection()) {
            String url = connection.getMetaData().getURL().toLowerCase(Locale.ROOT);
            return url.startsWith("jdbc:h2:") && !url.startsWith("jdbc:h2:tcp:") && !url.startsWith("jdbc:h2:ssl:");
        } catch (SQLException e) {
            return false; // a server that does not answer
        }
    }

    /** The statements that create the tables. Empty if the database does not answer any more. */
    String script() {
        try (Connection connection = source.getConnection()) {
            return schema.script(connection);
        } catch (SQLException e) {
            return "";
        }
    }

    @Override
    public void close() {
        if (source instanceof OwnPool own) {
            own.pool().close();
        }
    }

    private static class WithTables extends DelegatingDataSource {

        private final PermitSchema schema;

        WithTables(DataSource source, PermitSchema schema) {
            super(source);
            this.schema = schema;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            try {
                schema.ensure(connection);
                return connection;
            } catch (SQLException | RuntimeException e) {
                connection.close();
                throw e;
            }
        }
    }

    private static final class OwnWithTables extends WithTables implements OwnConnections {

        OwnWithTables(DataSource source, PermitSchema schema) {
            super(source, schema);
        }
    }

    /** Two connections with the settings of the application's pool, and with the user and password that it has by then. */
    private static final class OwnPool extends DelegatingDataSource {

        private final HikariDataSource application;
        private final HikariDataSource pool;
        private volatile @Nullable Failure last;

        OwnPool(HikariDataSource application, Duration commandTimeout) {
            this.application = application;
            this.pool = new HikariDataSource();
            application.copyStateTo(pool);
            pool.setPoolName("distributed-permit");
            pool.setMaximumPoolSize(CONNECTIONS);
            pool.setMinimumIdle(0);
            pool.setMaxLifetime(0); // a connection stays with its thread, and is replaced after a failure
            pool.setIdleTimeout(0);
            pool.setLeakDetectionThreshold(0);
            // Shorter than the command time-out, so that health shows the reason.
            pool.setConnectionTimeout(Math.max(SHORTEST_CONNECTION_MILLIS, commandTimeout.toMillis() * 3 / 4));
            pool.setInitializationFailTimeout(-1);
            pool.setReadOnly(false);
            pool.setAutoCommit(true);
            pool.setRegisterMbeans(false);
            pool.setMetricRegistry(null);
            pool.setMetricsTrackerFactory(null);
            pool.setHealthCheckRegistry(null);
            setTargetDataSource(pool);
        }

        HikariDataSource pool() {
            return pool;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Failure before = last;
            if (before != null && System.nanoTime() - before.at < FAILED_NANOS) {
                throw before.cause;
            }
            if (application.getUsername() != null) {
                pool.setUsername(application.getUsername());
            }
            if (application.getPassword() != null) {
                pool.setPassword(application.getPassword());
            }
            try {
                return pool.getConnection();
            } catch (SQLTransientConnectionException e) {
                // A time-out of the pool; why it could not connect is the cause.
                SQLException cause = e.getCause() instanceof SQLException reason ? reason : e;
                last = new Failure(cause, System.nanoTime());
                throw cause;
            }
        }

        private record Failure(SQLException cause, long at) {}
    }
}
