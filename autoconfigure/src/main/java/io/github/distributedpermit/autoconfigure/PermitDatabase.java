package io.github.distributedpermit.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedpermit.backend.jdbc.OwnConnections;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/**
 * The database that stores the permits, and the two connections to it. They are not those of the application's pool, which
 * calls that wait for permits may have emptied: a pool of the same kind is made beside it.
 *
 * @param application the application's own
 * @param connections where permits take theirs from
 */
record PermitDatabase(DataSource application, DataSource connections) implements AutoCloseable {

    private static final Log log = LogFactory.getLog(PermitDatabase.class);
    private static final boolean HIKARI =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", PermitDatabase.class.getClassLoader());
    private static final int CONNECTIONS = 2;

    /** Hikari accepts no shorter time. */
    private static final int SHORTEST_CONNECTION_MILLIS = 250;

    static PermitDatabase of(DataSource application, Duration commandTimeout) {
        if (DataSourceUnwrapper.unwrap(application, AbstractRoutingDataSource.class) != null) {
            throw new UnusableBackendException(
                    "Permits are to live in the database of a data source that routes each call to one of several",
                    "Mark the DataSource bean of one database with @PermitDataSource");
        }
        if (HIKARI) {
            HikariDataSource pool = DataSourceUnwrapper.unwrap(application, HikariDataSource.class);
            if (pool != null) {
                return new PermitDatabase(application, new OwnPool(pool, commandTimeout));
            }
        }
        log.warn(
                "Permits keep %d connections of the application's data source %s open, since it is no HikariDataSource; make its pool larger by that"
                        .formatted(CONNECTIONS, application.getClass().getName()));
        return new PermitDatabase(application, application);
    }

    /** Where the database is, for people; without user and password. Empty if it is not known. */
    String address() {
        if (connections instanceof OwnPool own && own.pool().getJdbcUrl() != null) {
            return own.pool()
                    .getJdbcUrl()
                    .replaceFirst("^jdbc:", "")
                    .replaceFirst("[?;].*$", "")
                    .replaceFirst("//[^/@]*@", "//");
        }
        return "";
    }

    @Override
    public void close() {
        if (connections instanceof OwnPool own) {
            own.pool().close();
        }
    }

    /** Two connections with the settings of the application's pool, and with the user and password that it has by then. */
    private static final class OwnPool extends DelegatingDataSource implements OwnConnections {

        private final HikariDataSource application;
        private final HikariDataSource pool;

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
            pool.setConnectionTimeout(Math.max(SHORTEST_CONNECTION_MILLIS, commandTimeout.toMillis()));
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
            if (application.getUsername() != null) {
                pool.setUsername(application.getUsername());
            }
            if (application.getPassword() != null) {
                pool.setPassword(application.getPassword());
            }
            return pool.getConnection();
        }
    }
}
