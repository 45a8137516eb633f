package io.github.distributedpermit.backend.jdbc;

import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.packages.DebianPackages;
import io.github.distributedpermit.ports.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.mariadb.jdbc.MariaDbDataSource;

/**
 * One MariaDB server for all tests of a JVM, which ends with it: Debian's, or the {@code mariadbd} that the system property
 * {@value #PROPERTY} names. Without one, tests are skipped with one loud line, or fail if the environment says {@code CI=true}.
 */
final class MariaDb {

    private static final String PROPERTY = "mariadb.binary";
    private static final String REMEDY = "No MariaDB for the tests: name its server with -D" + PROPERTY
            + "=/path/to/mariadbd. Debian needs nothing but a reachable mirror.";

    private static @Nullable String url;

    private MariaDb() {}

    static synchronized Database database() {
        String running = url;
        if (running == null) {
            running = start();
            url = running;
        }
        try {
            return new Database("mariadb", new MariaDbDataSource(running));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String start() {
        try {
            int port = FreePorts.some(1).get(0);
            Path data = Files.createTempDirectory("distributed-permit-mariadb");
            ProcessBuilder builder = new ProcessBuilder(
                            program().toString(),
                            "--no-defaults",
                            "--user=" + System.getProperty("user.name"),
                            "--datadir=" + data,
                            "--socket=" + data.resolve("socket"),
                            "--bind-address=127.0.0.1",
                            "--port=" + port,
                            "--max-connections=300",
                            "--skip-grant-tables",
                            "--skip-networking=0",
                            "--innodb-flush-log-at-trx-commit=2")
                    .redirectErrorStream(true)
                    .redirectOutput(data.resolve("server.log").toFile());
            Path libraries = libraries();
            if (libraries != null) {
                builder.environment().put("LD_LIBRARY_PATH", libraries.toString());
            }
            Process server = builder.start();
            Runtime.getRuntime().addShutdownHook(new Thread(server::destroyForcibly));
            String address = "jdbc:mariadb://127.0.0.1:" + port + "/?user=root";
            await().atMost(Duration.ofSeconds(30)).until(() -> isReady(server, address));
            return "jdbc:mariadb://127.0.0.1:" + port + "/permits?user=root";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isReady(Process server, String address) {
        if (!server.isAlive()) {
            throw new IllegalStateException("MariaDB ended with " + server.exitValue());
        }
        try (Connection c = DriverManager.getConnection(address);
                Statement s = c.createStatement()) {
            s.execute("CREATE DATABASE IF NOT EXISTS permits");
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    private static Path program() {
        String given = System.getProperty(PROPERTY);
        return given == null ? debian().resolve("usr/sbin/mariadbd") : Path.of(given);
    }

    private static @Nullable Path libraries() {
        return System.getProperty(PROPERTY) == null ? debian().resolve("usr/lib/x86_64-linux-gnu") : null;
    }

    private static Path debian() {
        try {
            return DebianPackages.unpacked(
                    "mariadb", "mariadb-server-core", "liburing2", "libaio1", "libpmem1", "libndctl6", "libdaxctl1");
        } catch (IllegalStateException e) {
            if ("true".equals(System.getenv("CI"))) {
                throw new AssertionError(REMEDY, e);
            }
            System.getLogger(MariaDb.class.getName()).log(System.Logger.Level.ERROR, "TESTS SKIPPED. " + REMEDY);
            return Assumptions.abort(REMEDY);
        }
    }
}
