package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Two instances whose calls wait for their permits within transactions, so that their pools are exhausted. */
class DatabaseTransactionsTest {

    private static final int LIMIT = 3;
    private static final int POOL = 10;
    private static final int CALLERS = 100;
    private static final int CALLS = 3;
    private static final Duration LEASE = Duration.ofSeconds(12);
    private static final Duration PATIENCE = Duration.ofSeconds(150);

    private final TestDatabase database = new TestDatabase();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger losses = new AtomicInteger();

    @Test
    void twoHundredCallersInTransactionsLoseNoPermitAndAreAllServed() throws Exception {
        execute("CREATE TABLE export (committed boolean)");
        ApplicationContextRunner instance = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        DataSourceAutoConfiguration.class, DistributedPermitAutoConfiguration.class))
                .withInitializer(CommandTimeout.ofSeconds(3))
                .withPropertyValues(database.settings())
                .withPropertyValues(
                        "distributed-permit.permits.export.limit=" + LIMIT,
                        "distributed-permit.permits.export.timeout=" + PATIENCE.toSeconds() + "s",
                        "distributed-permit.lease=" + LEASE.toSeconds() + "s",
                        "spring.datasource.hikari.maximum-pool-size=" + POOL,
                        "spring.datasource.hikari.connection-timeout=" + PATIENCE.toMillis());
        instance.run(one -> instance.run(other -> check(one, other)));
    }

    private void check(AssertableApplicationContext one, AssertableApplicationContext other) throws Exception {
        List<Permit> holders = new ArrayList<>();
        for (int i = 0; i < LIMIT; i++) {
            holders.add(take(one));
        }
        ExecutorService callers = Executors.newFixedThreadPool(2 * CALLERS);
        try {
            List<CompletableFuture<Void>> calls = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                calls.add(CompletableFuture.runAsync(() -> call(one), callers));
                calls.add(CompletableFuture.runAsync(() -> call(other), callers));
            }
            await("pools that transactions have emptied")
                    .atMost(PATIENCE)
                    .until(() -> exhausted(one) && exhausted(other));
            long ends = query("SELECT max(expires) FROM distributed_permit_member");
            await("sessions that are renewed for a lease meanwhile")
                    .atMost(PATIENCE)
                    .until(() -> query("SELECT min(expires) FROM distributed_permit_member")
                            > ends + TimeUnit.NANOSECONDS.toMicros(LEASE.toNanos()));
            assertThat(exhausted(one) && exhausted(other)).isTrue();
            assertThat(holders).allMatch(Permit::isHeld);

            holders.forEach(Permit::release);
            CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new))
                    .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } finally {
            callers.shutdownNow();
        }
        assertThat(most).hasValue(LIMIT);
        assertThat(losses).hasValue(0);
        assertThat(query("SELECT count(*) FROM export WHERE committed")).isEqualTo(2L * CALLERS * (CALLS - 1));
        assertThat(query("SELECT count(*) FROM export WHERE NOT committed")).isZero();
        List<Permit> all = new ArrayList<>();
        for (int i = 0; i < LIMIT; i++) {
            all.add(take(other));
        }
        assertThat(one.getBean(Permits.class).tryAcquire("export")).isEmpty();
        all.forEach(Permit::release);
    }

    private Permit take(AssertableApplicationContext context) throws InterruptedException {
        Permit permit = context.getBean(Permits.class).acquire("export");
        permit.onLoss(losses::incrementAndGet);
        return permit;
    }

    private static boolean exhausted(AssertableApplicationContext context) {
        HikariPoolMXBean pool = context.getBean(HikariDataSource.class).getHikariPoolMXBean();
        return pool.getActiveConnections() == POOL && pool.getThreadsAwaitingConnection() == CALLERS - POOL;
    }

    /** Its last transaction is rolled back, which must not take the return of the permit back. */
    private void call(AssertableApplicationContext context) {
        HikariDataSource source = context.getBean(HikariDataSource.class);
        JdbcTemplate jdbc = new JdbcTemplate(source);
        TransactionTemplate transactions = new TransactionTemplate(new JdbcTransactionManager(source));
        for (int i = 1; i <= CALLS; i++) {
            boolean committed = i < CALLS;
            transactions.executeWithoutResult(status -> {
                jdbc.update("INSERT INTO export VALUES (?)", committed);
                try (Permit permit = take(context)) {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    jdbc.queryForObject("SELECT count(*) FROM export", Long.class);
                    inside.decrementAndGet();
                    assertThat(permit.isHeld()).isTrue();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException(e);
                }
                if (!committed) {
                    status.setRollbackOnly();
                }
            });
        }
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private long query(String sql) throws SQLException {
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
