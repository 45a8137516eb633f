package io.github.distributedpermit.backend.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The statements of a database, with the names of the tables. Immutable. */
final class Statements {

    /** Lists of names are padded to one of these lengths, so that few statements are prepared. */
    private static final List<Integer> LENGTHS = List.of(1, 8, 64);

    /** How many rows of {@link #orphans} are answered at once. */
    static final int ORPHANS = 8;

    private final Dialect dialect;
    private final String tablePrefix;

    final String refusal;
    final String update;
    final String insert;
    final String look;
    final String firstEpoch;
    final String nextEpoch;
    final String begin;
    final String renew;
    final String adopt;
    final String reap;
    final String members;
    final String end;
    final String name;
    final String markEvicted;
    final String sweep;
    final String orphans;
    final @Nullable String send;
    final @Nullable String oldSnapshot;

    Statements(Dialect dialect, String tablePrefix) {
        this.dialect = dialect;
        this.tablePrefix = tablePrefix;
        refusal = of(dialect.refusal());
        update = of("UPDATE {key} SET revision = ?, touched = GREATEST({now}, ?), epoch = ?, pool = ?, document = ?"
                + " WHERE name = ? AND revision = ? AND EXISTS (SELECT 1 FROM {live})");
        insert = of(dialect.insert());
        look = of("SELECT {now}, x.longest, x.own, e.epoch, e.lease, e.grace_ends,"
                + " CASE WHEN e.server = {server} THEN 1 ELSE 0 END"
                + " FROM (SELECT MAX(lease) AS longest, MAX(CASE WHEN id = ? THEN renewals END) AS own FROM {member}"
                + " WHERE prefix = ?) x LEFT JOIN {epoch} e ON e.prefix = ?");
        firstEpoch = of("INSERT INTO {epoch} (epoch, lease, grace_ends, prefix, server) VALUES (?, ?, ?, ?, {this})");
        nextEpoch = of("UPDATE {epoch} SET epoch = ?, lease = ?, grace_ends = ?, server = {this}"
                + " WHERE prefix = ? AND epoch = ?");
        begin = of("INSERT INTO {member} (id, prefix, name, epoch, lease, renewals, expires, evictions)"
                + " VALUES (?, ?, ?, ?, ?, ?, {now} + ?, 0)");
        renew = of(
                "UPDATE {member} SET expires = {now} + lease, renewals = ? WHERE id = ? AND epoch = ? AND renewals >= ?"
                        + " AND EXISTS (SELECT 1 FROM {epoch} e WHERE e.prefix = ? AND e.epoch = ? AND e.server = {server})");
        adopt = of("UPDATE {member} SET expires = {now} + lease, renewals = ?, epoch = ? WHERE id = ?");
        reap = of("DELETE FROM {member} WHERE prefix = ? AND expires < {now}");
        members = of("SELECT id, evictions, lease FROM {member} WHERE prefix = ?");
        end = of("DELETE FROM {member} WHERE id = ?");
        name = of("SELECT name FROM {member} WHERE id = ?");
        markEvicted = of("UPDATE {member} SET evictions = evictions + 1 WHERE id = ?");
        sweep = of(dialect.sweep());
        // An id that is part of another text only keeps a row.
        orphans = of("SELECT name FROM {key} k WHERE name > ? AND name < ? AND document <> '' AND touched < {now} - ?"
                + " AND NOT EXISTS (SELECT 1 FROM {member} m WHERE m.prefix = ? AND k.document LIKE CONCAT('%', m.id, '%'))"
                + " ORDER BY name LIMIT " + ORPHANS);
        send = dialect.send();
        oldSnapshot = dialect.oldSnapshot() == null ? null : of(dialect.oldSnapshot());
    }

    Dialect dialect() {
        return dialect;
    }

    String keyTable() {
        return tablePrefix + "key";
    }

    /** The rows of some keys, and one row with the epoch, the end of its grace, the clock and no name, unless state was lost. */
    String read(int names) {
        return of("SELECT name, revision, touched, document, epoch, pool, {now} FROM {key} WHERE name IN ("
                + marks(names) + ") UNION ALL SELECT NULL, NULL, NULL, NULL, e.epoch, e.grace_ends, {now}"
                + " FROM {epoch} e WHERE e.prefix = ? AND e.server = {server}");
    }

    /** Which of some sessions have a row. */
    String alive(int sessions) {
        return of("SELECT id FROM {member} WHERE id IN (" + marks(sessions) + ")");
    }

    /** The last value fills the rest up to one of few lengths. */
    static List<Object> padded(List<String> values) {
        int size = LENGTHS.stream()
                .filter(length -> values.size() <= length)
                .findFirst()
                .orElse(values.size());
        List<Object> all = new ArrayList<>(values);
        all.addAll(Collections.nCopies(size - values.size(), values.get(values.size() - 1)));
        return all;
    }

    private static String marks(int count) {
        return String.join(", ", Collections.nCopies(count, "?"));
    }

    private String of(String template) {
        return template.replace(
                        "{live}",
                        "{member} m, {epoch} e WHERE m.id = ? AND e.prefix = m.prefix AND e.epoch = ? AND m.epoch = e.epoch"
                                + " AND e.server = {server}")
                .replace("{server}", dialect.server())
                .replace("{this}", dialect.thisServer())
                .replace("{now}", dialect.now())
                .replace("{key}", keyTable())
                .replace("{member}", tablePrefix + "member")
                .replace("{epoch}", tablePrefix + "epoch");
    }
}
