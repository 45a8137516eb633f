package io.github.distributedpermit.sample.server;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** A connection to a PostgreSQL server on this machine. */
final class PostgresLink implements ServerLink {

    static final String USER = "postgres";

    private static final int TIMEOUT_SECONDS = 2;

    private final Connection connection;

    private PostgresLink(Connection connection) {
        this.connection = connection;
    }

    static String url(int port) {
        return "jdbc:postgresql://%s:%d/postgres".formatted(ServerKind.HOST, port);
    }

    /** Where the server of a directory has its data. */
    static Path data(ServerDirectory directory) {
        return directory.path().resolve("data");
    }

    static PostgresLink open(int port) throws IOException {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL(url(port));
        source.setUser(USER);
        source.setSslmode("disable");
        source.setConnectTimeout(TIMEOUT_SECONDS);
        source.setSocketTimeout(TIMEOUT_SECONDS);
        try {
            return new PostgresLink(source.getConnection());
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    private static IOException failure(SQLException e) {
        if (e.getCause() instanceof SocketException refusedOrReset) {
            return refusedOrReset;
        }
        if (e.getCause() instanceof EOFException ended) {
            return ended;
        }
        boolean startsOrStops = String.valueOf(e.getSQLState()).startsWith("57P");
        IOException failure = startsOrStops ? new EOFException(e.getMessage()) : new ProtocolException(e.getMessage());
        failure.initCause(e);
        return failure;
    }

    @Override
    public Optional<Path> directory() throws IOException {
        try (Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery("SHOW data_directory")) {
            found.next();
            return Optional.ofNullable(Path.of(found.getString(1)).getParent());
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    @Override
    public void awaitEnd() {
        try {
            connection.setNetworkTimeout(Runnable::run, 0);
            PGConnection notified = connection.unwrap(PGConnection.class);
            while (!connection.isClosed()) {
                notified.getNotifications(0); // none ever comes
            }
        } catch (SQLException e) {
            // that is the end, too
        }
    }

    /** Unlike close(), this does not wait for the thread that waits for the end. */
    @Override
    public void close() throws IOException {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }
}
