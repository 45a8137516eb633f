package io.github.distributedpermit.backend.jdbc;

import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.packages.DebianPackages;
import io.github.distributedpermit.ports.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Debian's PgBouncer in front of the PostgreSQL server of the tests, with two connections to it, each of which serves any client
 * for one transaction, as a user whose transactions are of another isolation than the usual one. Where the package cannot be had, tests are skipped with one loud line, or fail if the environment says
 * {@code CI=true}.
 */
final class PgBouncer implements AutoCloseable {

    private static final String REMEDY = "No PgBouncer for the tests: Debian needs nothing but a reachable mirror.";

    private final Process process;
    private final int port = FreePorts.some(1).get(0);

    PgBouncer() {
        try {
            Path root = debian();
            Path folder = Files.createTempDirectory("distributed-permit-pgbouncer");
            Path configuration = folder.resolve("pgbouncer.ini");
            Files.writeString(configuration, """
                    [databases]
                    postgres = host=127.0.0.1 port=%d user=pooled
                    [pgbouncer]
                    listen_addr = 127.0.0.1
                    listen_port = %d
                    unix_socket_dir =
                    auth_type = any
                    pool_mode = transaction
                    default_pool_size = 2
                    """.formatted(
                            ((PGSimpleDataSource) PostgreSql.database().source()).getPortNumbers()[0], port));
            user();
            List<String> command = new ArrayList<>();
            if ("root".equals(System.getProperty("user.name"))) {
                command.addAll(List.of("unshare", "-U")); // it refuses to run as root
            }
            command.addAll(List.of(root.resolve("usr/sbin/pgbouncer").toString(), configuration.toString()));
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("pgbouncer.log").toFile());
            builder.environment()
                    .put(
                            "LD_LIBRARY_PATH",
                            root.resolve("usr/lib/x86_64-linux-gnu").toString());
            process = builder.start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
            await().atMost(Duration.ofSeconds(30)).until(this::isReady);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void user() {
        try (Connection c = PostgreSql.database().source().getConnection()) {
            Sql.update(c, "CREATE USER pooled SUPERUSER");
            Sql.update(c, "ALTER USER pooled SET synchronous_commit = on");
            Sql.update(c, "ALTER USER pooled SET default_transaction_isolation = 'repeatable read'");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean isReady() {
        if (!process.isAlive()) {
            throw new IllegalStateException("PgBouncer ended with " + process.exitValue());
        }
        try (Connection c = source().getConnection()) {
            return c.isValid(1);
        } catch (SQLException e) {
            return false;
        }
    }

    PGSimpleDataSource source() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL("jdbc:postgresql://127.0.0.1:" + port + "/postgres");
        source.setUser("postgres");
        return source;
    }

    private static Path debian() {
        try {
            return DebianPackages.unpacked("pgbouncer", "pgbouncer", "libc-ares2", "libevent-2.1-7");
        } catch (IllegalStateException e) {
            if ("true".equals(System.getenv("CI"))) {
                throw new AssertionError(REMEDY, e);
            }
            System.getLogger(PgBouncer.class.getName()).log(System.Logger.Level.ERROR, "TESTS SKIPPED. " + REMEDY);
            return Assumptions.abort(REMEDY);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
