package io.github.distributedpermit.benchmark.ours;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedpermit.backend.jdbc.JdbcPermitBackend;
import io.github.distributedpermit.backend.jdbc.JdbcSettings;
import io.github.distributedpermit.core.CoreSettings;
import java.time.Duration;

/** This project on a relational database, with two connections of its own as in an application. */
public final class OnDatabase {

    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);

    private OnDatabase() {}

    /** One member. */
    public static OurContender contender(String url, CoreSettings settings) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(2);
        HikariDataSource connections = new HikariDataSource(config);
        JdbcSettings jdbc = JdbcSettings.of(
                "distributed-permit", JdbcSettings.DEFAULT_TABLE_PREFIX, settings.lease(), COMMAND_TIMEOUT);
        return new OurContender(new JdbcPermitBackend(connections, url, jdbc), settings, connections);
    }
}
