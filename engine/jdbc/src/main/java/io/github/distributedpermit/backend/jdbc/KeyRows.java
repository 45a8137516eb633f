package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.KeyDocument;
import io.github.distributedpermit.spi.snapshot.NewerFormatException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads the rows of keys, with one statement for all of them, and which of their members are alive. Confined to one thread. */
final class KeyRows {

    private final String prefix;
    private final LiveMembers live;

    KeyRows(String prefix, LiveMembers live) {
        this.prefix = prefix;
        this.live = live;
    }

    /** Of the row of this key. */
    String name(String key) {
        return prefix + ':' + key;
    }

    /** Executes the statements without an effect, so that a missing table or right shows. */
    void check(Connection c, Statements s) throws SQLException {
        readRows(c, s, List.of("-"), new HashMap<>());
        Sql.update(c, s.of(s.dialect().insert), 0L, 0L, 0L, 0, "", "-", "-", 0L);
        Sql.update(c, s.of(Statements.UPDATE), 0L, 0L, 0L, 0, "", "-", 0L, "-", 0L);
        Sql.update(c, s.of("DELETE FROM {key} WHERE name = '-'"));
    }

    /**
     * Whether the session has not entered a later epoch. Otherwise the connection may lead to a former primary, which knows no
     * later one and makes changes of this session that the new primary does not have.
     */
    boolean isCurrent(Epoch epoch) {
        return epoch.number() >= live.epoch();
    }

    private record Row(long revision, KeyDocument document, long epoch, int pool) {}

    Map<String, JdbcSnapshot> read(Connection c, Statements s, Collection<String> names) throws SQLException {
        Map<String, Row> rows = new HashMap<>();
        Epoch epoch = readRows(c, s, names, rows)
                .orElseThrow(() -> PermitStoreException.passing(
                        "The database may have lost permits; none is granted until an instance has renewed its session",
                        null));
        if (!isCurrent(epoch)) {
            // The state of a broken connection: another one has to be opened.
            throw new SQLException("The session of this instance has moved to another server", "08006");
        }
        Set<String> members = new HashSet<>();
        rows.values().forEach(row -> row.document().records().forEach(record -> members.add(record.member())));
        Set<String> alive = alive(c, s, members);
        Map<String, JdbcSnapshot> snapshots = new HashMap<>();
        for (String name : names) {
            Row row = rows.getOrDefault(name(name), new Row(0, KeyDocument.unused(epoch.now()), epoch.number(), 0));
            boolean valid = row.epoch() == epoch.number();
            KeyDocument document = valid ? row.document() : row.document().withoutRecords(epoch.now());
            snapshots.put(name, new JdbcSnapshot(row.revision(), document, alive, epoch, valid ? row.pool() : 0));
        }
        return snapshots;
    }

    /** @return empty if the database has lost state */
    private Optional<Epoch> readRows(Connection c, Statements s, Collection<String> names, Map<String, Row> rows)
            throws SQLException {
        List<Object> values = Statements.padded(names.stream().map(this::name).toList());
        String sql = s.read(values.size());
        values.add(prefix);
        return Sql.query(
                c,
                sql,
                found -> {
                    Epoch epoch = null;
                    while (found.next()) {
                        String row = found.getString(1);
                        if (row == null) {
                            epoch = new Epoch(found.getLong(5), found.getLong(6), found.getLong(7));
                        } else {
                            KeyDocument document = document(s, row, found.getString(4), found.getLong(3));
                            rows.put(row, new Row(found.getLong(2), document, found.getLong(5), found.getInt(6)));
                        }
                    }
                    return Optional.ofNullable(epoch);
                },
                values.toArray());
    }

    private static KeyDocument document(Statements s, String row, String text, long touched) {
        String place = "Row '%s' of table %s".formatted(row, s.keyTable());
        try {
            return JdbcSnapshot.decode(text, touched);
        } catch (NewerFormatException e) {
            throw e.at(place);
        } catch (IllegalArgumentException e) {
            throw PermitStoreException.permanent(
                    "%s is not of distributed-permit: %s; delete the row, or set another distributed-permit.key-prefix"
                            .formatted(place, e.getMessage()),
                    e);
        }
    }

    /**
     * Those of some sessions that have a row, and others: a session without one has ended. What is known is read once: a session
     * that leaves it meanwhile may have lost its row with the state of the database, return with the permits that it reclaims,
     * and was not looked up.
     */
    private Set<String> alive(Connection c, Statements s, Set<String> sessions) throws SQLException {
        Set<String> known = live.known();
        sessions.removeAll(known);
        if (sessions.isEmpty()) {
            return known;
        }
        List<String> unknown = List.copyOf(sessions);
        List<String> found = new ArrayList<>();
        for (int from = 0; from < unknown.size(); from += Statements.LONGEST) {
            List<Object> values =
                    Statements.padded(unknown.subList(from, Math.min(unknown.size(), from + Statements.LONGEST)));
            found.addAll(Sql.query(c, s.alive(values.size()), KeyRows::texts, values.toArray()));
        }
        live.add(found);
        Set<String> alive = new HashSet<>(known);
        alive.addAll(found);
        return alive;
    }

    /** The first column of all rows. */
    static List<String> texts(ResultSet found) throws SQLException {
        List<String> texts = new ArrayList<>();
        while (found.next()) {
            texts.add(found.getString(1));
        }
        return texts;
    }
}
