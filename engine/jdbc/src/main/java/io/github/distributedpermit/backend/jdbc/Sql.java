package io.github.distributedpermit.backend.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Short forms of JDBC. Stateless. */
final class Sql {

    private Sql() {}

    /** What becomes of the rows of an answer. */
    interface Reader<T> {
        T read(ResultSet rows) throws SQLException;
    }

    static void bind(PreparedStatement p, Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            p.setObject(i + 1, values[i]);
        }
    }

    static <T> T query(Connection c, String sql, Reader<T> reader, Object... values) throws SQLException {
        try (PreparedStatement p = c.prepareStatement(sql)) {
            bind(p, values);
            try (ResultSet rows = p.executeQuery()) {
                return reader.read(rows);
            }
        }
    }

    /** @return how many rows were changed; -1 if the statement has answered with rows */
    static int update(Connection c, String sql, Object... values) throws SQLException {
        try (PreparedStatement p = c.prepareStatement(sql)) {
            bind(p, values);
            return p.execute() ? -1 : p.getUpdateCount();
        }
    }
}
