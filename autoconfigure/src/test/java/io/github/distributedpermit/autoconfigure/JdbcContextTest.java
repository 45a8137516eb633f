package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.backend.jdbc.JdbcPermitBackend;
import io.github.distributedpermit.health.PermitHealthIndicator;
import io.github.distributedpermit.ports.FreePorts;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Permits in the application's database, as Spring Boot configures it. */
@ExtendWith(OutputCaptureExtension.class)
class JdbcContextTest {

    /** The start only finds out what is missing if the database answers in time. */
    private static final CommandTimeout PATIENT = CommandTimeout.ofSeconds(20);

    private static EmbeddedPostgres server;

    private final ApplicationContextRunner embedded = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataSourceAutoConfiguration.class, DistributedPermitAutoConfiguration.class))
            .withPropertyValues("distributed-permit.backend=jdbc", "distributed-permit.permits.export.limit=3");

    @BeforeAll
    static void start() throws IOException {
        server = TestPostgres.builder().start();
    }

    @AfterAll
    static void stop() throws IOException {
        server.close();
    }

    /** Each test has a database of its own. */
    private ApplicationContextRunner postgres(String database) {
        try (Connection c = server.getPostgresDatabase().getConnection();
                var s = c.createStatement()) {
            s.execute("CREATE DATABASE " + database);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return embedded.withPropertyValues(
                "spring.datasource.url=jdbc:postgresql://localhost:" + server.getPort() + "/" + database,
                "spring.datasource.username=postgres");
    }

    private static int free(Permits permits, String key, int limit) throws InterruptedException {
        List<Permit> taken = new ArrayList<>();
        for (int i = 0; i < limit; i++) {
            permits.tryAcquire(key).ifPresent(taken::add);
        }
        taken.forEach(Permit::release);
        return taken.size();
    }

    @Test
    void embeddedDatabaseGetsItsTables() {
        embedded.run(context -> {
            assertThat(context).hasSingleBean(JdbcPermitBackend.class);
            assertThat(free(context.getBean(Permits.class), "export", 3)).isEqualTo(3);
        });
    }

    @Test
    void twoApplicationsShareALimit() {
        ApplicationContextRunner one =
                postgres("shared").withPropertyValues("distributed-permit.jdbc.initialize-schema=always");
        one.run(a -> one.run(b -> {
            Permits here = a.getBean(Permits.class);
            Permits there = b.getBean(Permits.class);
            try (Permit permit = here.acquire("export")) {
                assertThat(permit.isHeld()).isTrue();
                assertThat(free(there, "export", 3)).isEqualTo(2);
            }
        }));
    }

    @Test
    void startAndStopWarnOfNothing(CapturedOutput output) {
        postgres("quiet")
                .withPropertyValues("distributed-permit.jdbc.initialize-schema=always")
                .run(context -> assertThat(free(context.getBean(Permits.class), "export", 3))
                        .isEqualTo(3));
        assertThat(output).contains("distributed-permit - Start completed").doesNotContain("WARN", "ERROR");
    }

    /** Each table is one that another instance is about to create when this one tries to. */
    @Test
    void startMeetsAnotherInstanceAtEachOfTheTables() throws SQLException {
        DataSource database = new TestDatabase().source();
        PermitSchema schema = new PermitSchema(
                new JdbcPermitProperties(DatabaseInitializationMode.ALWAYS, "distributed_permit_"),
                Duration.ofSeconds(30));
        Connection starting = database.getConnection();
        List<Connection> others = new ArrayList<>();
        for (String statement : schema.script(starting).split(";")) {
            if (statement.contains("CREATE TABLE")) {
                Connection other = database.getConnection();
                other.setAutoCommit(false);
                other.createStatement().execute(statement);
                others.add(other);
            }
        }
        CompletableFuture<Void> start = CompletableFuture.runAsync(() -> {
            try (starting) {
                schema.ensure(starting);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
        for (Connection other : others) {
            await().until(() -> start.isDone() || isWaiting(database));
            other.commit();
            other.close();
        }
        assertThat(start).succeedsWithin(Duration.ofSeconds(30));
    }

    /** A server that stands still answers as little as one whose table is locked. */
    @Test
    void startDoesNotWaitForTablesThatTheServerDoesNotCreate(CapturedOutput output) throws Exception {
        ApplicationContextRunner application = postgres("locked")
                .withInitializer(CommandTimeout.ofMillis(500))
                .withPropertyValues("distributed-permit.jdbc.initialize-schema=always");
        CompletableFuture<Void> start;
        try (Connection other = server.getDatabase("postgres", "locked").getConnection();
                Statement s = other.createStatement()) {
            other.setAutoCommit(false);
            s.execute("CREATE TABLE distributed_permit_key (name int)");
            CompletableFuture<Void> started = new CompletableFuture<>();
            start = CompletableFuture.runAsync(() -> application.run(context -> {
                assertThat(context).hasNotFailed();
                started.complete(null);
                Permits permits = context.getBean(Permits.class);
                await().ignoreExceptions()
                        .until(() -> permits.tryAcquire("export").isPresent());
            }));
            assertThat(started).succeedsWithin(Duration.ofSeconds(30));
            other.rollback();
        }
        assertThat(start).succeedsWithin(Duration.ofSeconds(60));
        assertThat(output).contains("Permits cannot be given until their database can be used");
    }

    /** PostgreSQL does not notice that the client has given its connection up. */
    @Test
    void noStatementOfTheStartWaitsInTheServerForEver() throws SQLException {
        DataSource database = new TestDatabase().source();
        PermitSchema schema = new PermitSchema(
                new JdbcPermitProperties(DatabaseInitializationMode.ALWAYS, "distributed_permit_"),
                Duration.ofSeconds(4));
        try (Connection other = database.getConnection();
                Connection starting = database.getConnection()) {
            other.setAutoCommit(false);
            other.createStatement().execute("CREATE TABLE distributed_permit_key (name int)");

            assertThatExceptionOfType(SQLException.class).isThrownBy(() -> schema.ensure(starting));
            assertThat(isWaiting(database)).isFalse();

            other.rollback();
            schema.ensure(starting);
            assertThat(starting.getAutoCommit()).isTrue();
        }
    }

    /** As a person does who has not ended it: the view is there, and nothing has to wait for the transaction. */
    @Test
    void startDoesNotWaitForATransactionThatHasReadTheView() throws SQLException {
        ApplicationContextRunner application = postgres("viewed")
                .withInitializer(CommandTimeout.ofSeconds(5))
                .withPropertyValues("distributed-permit.jdbc.initialize-schema=always");
        application.run(context -> assertThat(context).hasNotFailed());
        DataSource database = server.getDatabase("postgres", "viewed");
        try (Connection reader = database.getConnection()) {
            reader.setAutoCommit(false);
            reader.createStatement().execute("SELECT * FROM distributed_permit_holder");

            application.run(context -> {
                assertThat(context).hasNotFailed();
                assertThat(free(context.getBean(Permits.class), "export", 3)).isEqualTo(3);
                assertThat(isWaiting(database)).isFalse();
            });
        }
    }

    private static boolean isWaiting(DataSource database) throws SQLException {
        try (Connection c = database.getConnection();
                var rows = c.createStatement().executeQuery("SELECT count(*) FROM pg_locks WHERE NOT granted")) {
            return rows.next() && rows.getInt(1) > 0;
        }
    }

    @Test
    void missingTablesStopTheStartWithTheStatementsThatCreateThem() {
        postgres("untouched")
                .withInitializer(PATIENT)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("distributed_permit_key")
                        .hasMessageContaining("CREATE TABLE IF NOT EXISTS distributed_permit_member")
                        .hasMessageContaining("distributed-permit.jdbc.initialize-schema=always"));
    }

    @Test
    void missingRightStopsTheStartWithTheStatementThatGrantsIt() throws SQLException {
        ApplicationContextRunner guest = postgres("guarded")
                .withInitializer(PATIENT)
                .withPropertyValues("spring.datasource.username=guest", "spring.datasource.password=any");
        try (Connection c = server.getDatabase("postgres", "guarded").getConnection();
                var s = c.createStatement()) {
            s.execute("CREATE ROLE guest LOGIN");
            s.execute("REVOKE ALL ON SCHEMA public FROM public; GRANT USAGE ON SCHEMA public TO guest");
        }
        guest.withPropertyValues("distributed-permit.jdbc.initialize-schema=always")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("42501")
                        .hasMessageContaining("CREATE TABLE IF NOT EXISTS distributed_permit_member"));
        postgresTables("guarded");
        guest.run(context -> assertThat(context.getStartupFailure())
                .rootCause()
                .hasMessageContaining("42501")
                .hasMessageContaining("GRANT SELECT, INSERT, UPDATE, DELETE ON distributed_permit_key"));
    }

    /** No statement deletes epochs. */
    @Test
    void eachMissingRightStopsTheStart() throws SQLException {
        ApplicationContextRunner clerk = postgres("rights")
                .withInitializer(PATIENT)
                .withPropertyValues("spring.datasource.username=clerk", "spring.datasource.password=any");
        postgresTables("rights");
        try (Connection c = server.getDatabase("postgres", "rights").getConnection();
                var s = c.createStatement()) {
            s.execute("CREATE ROLE clerk LOGIN");
            for (String table : List.of("key", "member", "epoch")) {
                for (String right : List.of("SELECT", "INSERT", "UPDATE", "DELETE")) {
                    s.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO clerk");
                    s.execute("REVOKE " + right + " ON distributed_permit_" + table + " FROM clerk");
                    boolean needed = !table.equals("epoch") || !right.equals("DELETE");
                    clerk.run(context -> assertThat(context.getStartupFailure() != null)
                            .as(right + " on " + table)
                            .isEqualTo(needed));
                }
            }
        }
    }

    /** After the test for an embedded database and that of the tables, the one for the statements that create them. */
    @Test
    void lostConnectionKeepsTheReasonOfAFailedStart() {
        AtomicInteger connections = new AtomicInteger();
        DataSource source = new DelegatingDataSource(new TestDatabase().source()) {
            @Override
            public Connection getConnection() throws SQLException {
                if (connections.incrementAndGet() > 2) {
                    throw new SQLException("Lost", "08006");
                }
                return super.getConnection();
            }
        };
        embedded.withInitializer(PATIENT)
                .withBean("dataSource", DataSource.class, () -> source)
                .run(context ->
                        assertThat(context.getStartupFailure()).rootCause().hasMessageContaining("42P01"));
    }

    private void postgresTables(String database) {
        embedded.withInitializer(PATIENT)
                .withPropertyValues(
                        "spring.datasource.url=jdbc:postgresql://localhost:" + server.getPort() + "/" + database,
                        "spring.datasource.username=postgres",
                        "distributed-permit.jdbc.initialize-schema=always")
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** The script of the application fails if the tables of permits are there already, as Flyway does without a baseline. */
    @Test
    void tablesAreCreatedAfterThoseOfTheApplication() {
        postgres("ordered")
                .withConfiguration(AutoConfigurations.of(DataSourceInitializationAutoConfiguration.class))
                .withPropertyValues(
                        "distributed-permit.jdbc.initialize-schema=always",
                        "spring.sql.init.mode=always",
                        "spring.sql.init.schema-locations=classpath:empty-schema-wanted.sql")
                .run(context -> assertThat(free(context.getBean(Permits.class), "export", 3))
                        .isEqualTo(3));
    }

    @Test
    void migrationOfTheApplicationCreatesTheTablesBeforeTheyAreNeeded() {
        postgres("migrated")
                .withConfiguration(AutoConfigurations.of(DataSourceInitializationAutoConfiguration.class))
                .withPropertyValues(
                        "distributed-permit.jdbc.initialize-schema=never",
                        "spring.sql.init.mode=always",
                        "spring.sql.init.schema-locations=classpath:io/github/distributedpermit/backend/jdbc/schema-postgresql.sql")
                .run(context -> assertThat(free(context.getBean(Permits.class), "export", 3))
                        .isEqualTo(3));
    }

    /** As with every other store: the application starts, and a password may be rotated while it runs. */
    @Test
    void wrongPasswordIsNoMissingTable() throws SQLException {
        String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
        try (Connection c = DriverManager.getConnection(url, "sa", "right")) {
            assertThat(c.isValid(1)).isTrue();
        }
        embedded.withConfiguration(AutoConfigurations.of(DistributedPermitHealthAutoConfiguration.class))
                .withPropertyValues(
                        "spring.datasource.url=" + url,
                        "spring.datasource.username=sa",
                        "spring.datasource.password=wrong")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    // Not only that there was no answer in time.
                    await().untilAsserted(() -> assertThatExceptionOfType(PermitBackendException.class)
                            .isThrownBy(() -> context.getBean(Permits.class).tryAcquire("export"))
                            .withMessageContaining("28000"));
                    await().untilAsserted(() -> assertThat(
                                    context.getBean(PermitHealthIndicator.class).health())
                            .satisfies(health -> assertThat(health.getStatus()).isEqualTo(Status.DOWN))
                            .satisfies(health -> assertThat(health.getDetails())
                                    .extracting("error")
                                    .asString()
                                    .contains("Wrong user name or password")));
                    context.getBean(HikariDataSource.class)
                            .getHikariConfigMXBean()
                            .setPassword("right");
                    await().ignoreExceptions()
                            .until(() -> context.getBean(Permits.class)
                                    .tryAcquire("export")
                                    .isPresent());
                });
    }

    /** Open connections go on with the old one. The next ones have the password that the application's pool has by then. */
    @Test
    void passwordMayBeRotatedWhilePermitsAreHeld() throws Exception {
        try (EmbeddedPostgres secured = TestPostgres.builder().start();
                Connection admin = secured.getPostgresDatabase().getConnection();
                Statement s = admin.createStatement()) {
            s.execute("CREATE USER rotated SUPERUSER PASSWORD 'one'");
            try (ResultSet row = s.executeQuery("SHOW hba_file")) {
                row.next();
                Path rules = Path.of(row.getString(1));
                Files.writeString(rules, "host all rotated all scram-sha-256\n" + Files.readString(rules));
            }
            s.execute("SELECT pg_reload_conf()");
            String url = secured.getJdbcUrl("rotated", "postgres");
            await().untilAsserted(() -> assertThatExceptionOfType(SQLException.class)
                    .isThrownBy(() ->
                            DriverManager.getConnection(url, "rotated", "wrong").close()));
            embedded.withInitializer(CommandTimeout.ofMillis(500))
                    .withPropertyValues(
                            "distributed-permit.jdbc.initialize-schema=always",
                            "distributed-permit.lease=60s",
                            "spring.datasource.url=" + url,
                            "spring.datasource.username=rotated",
                            "spring.datasource.password=one")
                    .run(context -> {
                        Permits permits = context.getBean(Permits.class);
                        try (Permit held = permits.acquire("export")) {
                            s.execute("ALTER USER rotated PASSWORD 'two'");
                            permits.tryAcquire("export").orElseThrow().release();

                            s.execute(
                                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotated'");
                            await().untilAsserted(() -> assertThatExceptionOfType(PermitBackendException.class)
                                    .isThrownBy(() -> permits.tryAcquire("export"))
                                    .withMessageContaining("28P01"));

                            context.getBean(HikariDataSource.class)
                                    .getHikariConfigMXBean()
                                    .setPassword("two");
                            await().ignoreExceptions()
                                    .until(() -> permits.tryAcquire("export").isPresent());
                            assertThat(held.isHeld()).isTrue();
                        }
                    });
        }
    }

    @Test
    void databaseThatComesLaterGetsItsTablesThen() throws Exception {
        int port = FreePorts.some(1).get(0);
        embedded.withInitializer(CommandTimeout.ofMillis(500))
                .withPropertyValues(
                        "spring.datasource.url=jdbc:postgresql://localhost:" + port + "/postgres",
                        "spring.datasource.username=postgres",
                        "distributed-permit.jdbc.initialize-schema=always",
                        "distributed-permit.defaults.store-timeout=1s")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Permits permits = context.getBean(Permits.class);
                    assertThatExceptionOfType(PermitBackendException.class)
                            .isThrownBy(() -> permits.tryAcquire("export"))
                            .withMessageContaining("08001");
                    try (EmbeddedPostgres later =
                            TestPostgres.builder().setPort(port).start()) {
                        assertThat(later.getPort()).isEqualTo(port);
                        await().ignoreExceptions()
                                .until(() -> permits.tryAcquire("export").isPresent());
                    }
                });
    }

    @Test
    void tablesHaveTheirPrefix() {
        postgres("prefixed")
                .withPropertyValues(
                        "distributed-permit.jdbc.initialize-schema=always",
                        "distributed-permit.jdbc.table-prefix=public.my_permits_")
                .run(context -> {
                    assertThat(free(context.getBean(Permits.class), "export", 3))
                            .isEqualTo(3);
                    try (Connection c = context.getBean(DataSource.class).getConnection();
                            var rows = c.createStatement().executeQuery("SELECT count(*) FROM my_permits_key")) {
                        assertThat(rows.next()).isTrue();
                        assertThat(rows.getInt(1)).isEqualTo(1);
                    }
                });
    }

    /** Calls that hold all connections of the pool, as transactions around them do, must not keep permits from being renewed. */
    @Test
    void permitsAreTakenAndReturnedWhileThePoolIsExhausted() {
        postgres("exhausted")
                .withPropertyValues(
                        "distributed-permit.jdbc.initialize-schema=always",
                        "spring.datasource.hikari.maximum-pool-size=2")
                .run(context -> {
                    HikariDataSource pool = context.getBean(HikariDataSource.class);
                    try (Connection one = pool.getConnection();
                            Connection two = pool.getConnection()) {
                        assertThat(one).isNotSameAs(two);
                        assertThat(free(context.getBean(Permits.class), "export", 3))
                                .isEqualTo(3);
                    }
                });
    }

    private static ApplicationContextRunner withoutOtherClients(ApplicationContextRunner application) {
        return application
                .withPropertyValues("distributed-permit.backend=")
                .withClassLoader(new FilteredClassLoader(
                        "io.lettuce", "redis.clients", "org.apache.curator", "org.springframework.cloud.consul"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "jdbc:h2:mem:named", "jdbc:h2:file:%s/named"})
    void databaseOfThisInstanceAloneIsNotTakenWithoutBeingAskedFor(String url, @TempDir Path folder) {
        withoutOtherClients(embedded)
                .withPropertyValues(
                        "spring.datasource.url=" + url.formatted(folder),
                        "distributed-permit.jdbc.initialize-schema=always")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("embedded database")
                        .hasMessageContaining("distributed-permit.backend=jdbc"));
    }

    @Test
    void databaseOfThisInstanceAloneThatWasAskedForIsWarnedOf(CapturedOutput output) {
        embedded.withPropertyValues("distributed-permit.jdbc.initialize-schema=always")
                .run(context -> assertThat(context).hasSingleBean(JdbcPermitBackend.class));
        assertThat(output).contains("embedded database: limits hold in this instance only");
    }

    @Test
    void databaseIsTakenBesideNoOtherClientAndTheLogSaysWhy(CapturedOutput output) {
        withoutOtherClients(postgres("alone"))
                .withPropertyValues("distributed-permit.jdbc.initialize-schema=always")
                .run(context -> assertThat(context).hasSingleBean(JdbcPermitBackend.class));
        assertThat(output)
                .contains("of the permits in 'jdbc' at postgresql://localhost:" + server.getPort()
                        + "/alone, since no client of another store is on the class path, and knows 1 permit(s)");
    }

    @Test
    void dataSourceThatRoutesIsRefused() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(DistributedPermitAutoConfiguration.class))
                .withUserConfiguration(Routing.class)
                .withPropertyValues("distributed-permit.backend=jdbc")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("routes each call")
                        .hasMessageContaining("@PermitDataSource"));
    }

    @Test
    void applicationWithoutADataSourceIsToldSo() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(DistributedPermitAutoConfiguration.class))
                .withPropertyValues("distributed-permit.backend=jdbc")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("has no DataSource beans")
                        .hasMessageContaining("R2DBC")
                        .hasMessageContaining("spring.datasource.url"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Routing {

        @Bean
        DataSource routing() {
            AbstractRoutingDataSource source = new AbstractRoutingDataSource() {
                @Override
                protected Object determineCurrentLookupKey() {
                    return "one";
                }
            };
            source.setTargetDataSources(Map.of());
            return source;
        }
    }
}
