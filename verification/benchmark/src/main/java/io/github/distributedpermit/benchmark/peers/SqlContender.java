package io.github.distributedpermit.benchmark.peers;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** What people write for PostgreSQL themselves: a call that gets no permit tries again after some milliseconds. Thread-safe. */
public abstract class SqlContender implements Contender {

    /** Enough for the holders of the benchmark, and for some that try. */
    private static final int CONNECTIONS = 20;

    private static final long SHORTEST_PAUSE = Duration.ofMillis(3).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofMillis(7).toNanos();

    private final HikariDataSource pool;
    private final String owner = UUID.randomUUID().toString();

    private SqlContender(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(CONNECTIONS);
        config.setConnectionTimeout(Duration.ofSeconds(60).toMillis());
        this.pool = new HikariDataSource(config);
    }

    /** One row for each permit, taken with {@code FOR UPDATE SKIP LOCKED}; it comes back when its lease has ended. */
    public static Contender slots(String url) {
        return new Slots(url);
    }

    /** Advisory locks of sessions: each permit takes a connection, with which it ends. */
    public static Contender advisoryLocks(String url) {
        return new AdvisoryLocks(url);
    }

    /** The statements of ShedLock, for one lock after the other up to the limit. */
    public static Contender shedLock(String url) {
        return new ShedLock(url);
    }

    /** Tries once. */
    abstract @Nullable Object tryEnter(String key, int limit) throws SQLException;

    abstract void leave(String key, Object pass) throws SQLException;

    /** Creates what the key needs. */
    abstract void prepare(String key, int limit) throws SQLException;

    final String owner() {
        return owner;
    }

    final Connection connection() throws SQLException {
        return pool.getConnection();
    }

    /** One statement on a connection of its own; its parameters are texts and numbers. */
    final int update(String sql, Object... parameters) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, parameters);
            return statement.executeUpdate();
        }
    }

    static void bind(PreparedStatement statement, Object... parameters) throws SQLException {
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
    }

    @Override
    public final Gate gate(String key, int limit) throws Exception {
        prepare(key, limit);
        return new Gate() {
            @Override
            public Object enter() throws Exception {
                Object pass = tryEnter(key, limit);
                while (pass == null) {
                    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(SHORTEST_PAUSE, LONGEST_PAUSE));
                    if (Thread.interrupted()) {
                        throw new InterruptedException();
                    }
                    pass = tryEnter(key, limit);
                }
                return pass;
            }

            @Override
            public void leave(Object pass) throws Exception {
                SqlContender.this.leave(key, pass);
            }
        };
    }

    @Override
    public final void close() {
        pool.close();
    }

    private static final class Slots extends SqlContender {

        private Slots(String url) {
            super(url);
        }

        @Override
        void prepare(String key, int limit) throws SQLException {
            update(
                    "INSERT INTO slot SELECT ?, number, '', '-infinity' FROM generate_series(1, ?) number ON CONFLICT DO NOTHING",
                    key,
                    limit);
        }

        @Override
        @Nullable
        Object tryEnter(String key, int limit) throws SQLException {
            try (Connection connection = connection();
                    PreparedStatement statement = connection.prepareStatement(
                            "UPDATE slot SET owner = ?, until = clock_timestamp() + INTERVAL '15 seconds'"
                                    + " WHERE name = ? AND number = (SELECT number FROM slot WHERE name = ?"
                                    + " AND until < clock_timestamp() LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING number")) {
                bind(statement, owner(), key, key);
                try (ResultSet row = statement.executeQuery()) {
                    return row.next() ? row.getInt(1) : null;
                }
            }
        }

        @Override
        void leave(String key, Object pass) throws SQLException {
            update(
                    "UPDATE slot SET until = '-infinity' WHERE name = ? AND number = ? AND owner = ?",
                    key,
                    pass,
                    owner());
        }
    }

    private static final class AdvisoryLocks extends SqlContender {

        private AdvisoryLocks(String url) {
            super(url);
        }

        private record Lock(Connection connection, int number) {}

        @Override
        void prepare(String key, int limit) {}

        @Override
        @Nullable
        Object tryEnter(String key, int limit) throws SQLException {
            Connection connection = connection();
            try (PreparedStatement statement =
                    connection.prepareStatement("SELECT number FROM generate_series(1, ?) number"
                            + " WHERE pg_try_advisory_lock(hashtext(?), number) LIMIT 1")) {
                bind(statement, limit, key);
                try (ResultSet row = statement.executeQuery()) {
                    if (row.next()) {
                        return new Lock(connection, row.getInt(1));
                    }
                }
            } catch (SQLException e) {
                connection.close();
                throw e;
            }
            connection.close();
            return null;
        }

        @Override
        void leave(String key, Object pass) throws SQLException {
            Lock lock = (Lock) pass;
            try (Connection connection = lock.connection();
                    PreparedStatement statement =
                            connection.prepareStatement("SELECT pg_advisory_unlock(hashtext(?), ?)")) {
                bind(statement, key, lock.number());
                statement.executeQuery().close();
            }
        }
    }

    private static final class ShedLock extends SqlContender {

        private ShedLock(String url) {
            super(url);
        }

        @Override
        void prepare(String key, int limit) throws SQLException {
            update(
                    "INSERT INTO shedlock SELECT ? || '-' || number, '-infinity', now(), '' FROM generate_series(1, ?) number"
                            + " ON CONFLICT DO NOTHING",
                    key,
                    limit);
        }

        @Override
        @Nullable
        Object tryEnter(String key, int limit) throws SQLException {
            for (int number = 1; number <= limit; number++) {
                String name = key + "-" + number;
                if (update(
                                "UPDATE shedlock SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + INTERVAL '15 seconds',"
                                        + " locked_at = timezone('utc', CURRENT_TIMESTAMP), locked_by = ?"
                                        + " WHERE name = ? AND lock_until <= timezone('utc', CURRENT_TIMESTAMP)",
                                owner(),
                                name)
                        == 1) {
                    return name;
                }
            }
            return null;
        }

        @Override
        void leave(String key, Object pass) throws SQLException {
            update(
                    "UPDATE shedlock SET lock_until = timezone('utc', CURRENT_TIMESTAMP) WHERE name = ? AND locked_by = ?",
                    pass,
                    owner());
        }
    }
}
