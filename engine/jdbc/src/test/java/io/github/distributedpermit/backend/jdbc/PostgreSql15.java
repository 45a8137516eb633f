package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.packages.DebianPackages;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * One PostgreSQL server of Debian 12 for all tests of a JVM, which ends with it. Where the packages cannot be had, tests are skipped
 * with one loud line, or fail if the environment says {@code CI=true}.
 */
final class PostgreSql15 {

    private static final String REMEDY = "No PostgreSQL 15 for the tests: Debian needs nothing but a reachable mirror.";

    private static @Nullable PostgreSqlServer server;

    private PostgreSql15() {}

    static synchronized Database database() {
        PostgreSqlServer running = server;
        if (running == null) {
            Path root = debian();
            running = PostgreSqlServer.create(
                    root.resolve("usr/lib/postgresql/15/bin"),
                    Map.of(
                            "LD_LIBRARY_PATH",
                            root.resolve("usr/lib/x86_64-linux-gnu").toString()));
            server = running;
        }
        return new Database("postgresql", running.source());
    }

    private static Path debian() {
        try {
            return DebianPackages.unpacked(
                    "postgresql-15", "postgresql-15", "libpq5", "libldap-2.5-0", "libsasl2-2", "libicu72", "libxml2");
        } catch (IllegalStateException e) {
            if ("true".equals(System.getenv("CI"))) {
                throw new AssertionError(REMEDY, e);
            }
            System.getLogger(PostgreSql15.class.getName()).log(System.Logger.Level.ERROR, "TESTS SKIPPED. " + REMEDY);
            return Assumptions.abort(REMEDY);
        }
    }
}
