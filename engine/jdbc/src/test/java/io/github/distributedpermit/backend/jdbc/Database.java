package io.github.distributedpermit.backend.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * A database with the tables of permits.
 *
 * @param name of the file with its schema
 * @param source opens a new connection each time
 */
record Database(String name, DataSource source) {

    /** Creates the tables as the auto-configuration does. */
    Database {
        try (Connection c = source.getConnection();
                Statement s = c.createStatement()) {
            for (String sql : schema(name).split(";")) {
                if (!sql.isBlank()) {
                    s.execute(sql);
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String schema(String name) {
        try (InputStream file =
                Objects.requireNonNull(JdbcPermitBackend.class.getResourceAsStream("schema-" + name + ".sql"))) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
