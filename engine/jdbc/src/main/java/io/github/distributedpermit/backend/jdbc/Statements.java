package io.github.distributedpermit.backend.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The statements of a database, with the names of the tables. Confined to one thread. */
final class Statements {

    /** How many names a list should have at most. */
    static final int LONGEST = 64;
    /** Lists of names are padded to one of these lengths, so that few statements are prepared. */
    private static final List<Integer> LENGTHS = List.of(1, 8, LONGEST);

    /** How many rows of {@link #FIND_ORPHANS} are answered at once. */
    static final int ORPHANS = 8;

    /** How many rows of unused keys are deleted at once. */
    static final int UNUSED = 1000;

    static final String UPDATE =
            "UPDATE {key} SET revision = ?, touched = GREATEST({now}, ?), epoch = ?, pool = ?, document = ?"
                    + " WHERE name = ? AND revision = ? AND EXISTS (SELECT 1 FROM {live})";
    static final String LOOK = "SELECT {now}, x.longest, x.own, e.epoch, e.lease, e.grace_ends,"
            + " CASE WHEN e.server = {server} THEN 1 ELSE 0 END"
            + " FROM (SELECT MAX(lease) AS longest, MAX(CASE WHEN id = ? THEN renewals END) AS own FROM {member}"
            + " WHERE prefix = ?) x LEFT JOIN {epoch} e ON e.prefix = ?";
    static final String FIRST_EPOCH =
            "INSERT INTO {epoch} (epoch, lease, grace_ends, prefix, server) VALUES (?, ?, ?, ?, {this})";
    static final String NEXT_EPOCH =
            "UPDATE {epoch} SET epoch = ?, lease = ?, grace_ends = ?, server = {this} WHERE prefix = ? AND epoch = ?";
    static final String BEGIN = "INSERT INTO {member} (id, prefix, name, epoch, lease, renewals, expires, evictions)"
            + " VALUES (?, ?, ?, ?, ?, ?, {now} + ?, 0)";
    static final String RENEW =
            "UPDATE {member} SET expires = {now} + lease, renewals = ? WHERE id = ? AND epoch = ? AND renewals >= ?"
                    + " AND EXISTS (SELECT 1 FROM {epoch} e WHERE e.prefix = ? AND e.epoch = ? AND e.server = {server})";
    static final String ADOPT = "UPDATE {member} SET expires = {now} + lease, renewals = ?, epoch = ? WHERE id = ?";
    static final String REAP = "DELETE FROM {member} WHERE prefix = ? AND expires < {now}";
    static final String MEMBERS = "SELECT id, evictions, lease FROM {member} WHERE prefix = ?";
    static final String END = "DELETE FROM {member} WHERE id = ?";
    static final String NAME = "SELECT name FROM {member} WHERE id = ?";
    static final String MARK_EVICTED = "UPDATE {member} SET evictions = evictions + 1 WHERE id = ?";
    /** An id that is part of another text only keeps a row. */
    static final String FIND_ORPHANS =
            "SELECT name FROM {key} k WHERE name > ? AND name < ? AND document <> '' AND touched < {now} - {age}"
                    + " AND NOT EXISTS (SELECT 1 FROM {member} m WHERE m.prefix = ? AND k.document LIKE CONCAT('%', m.id, '%'))"
                    + " ORDER BY name LIMIT " + ORPHANS;

    static final String KEYS =
            "SELECT name FROM {key} WHERE name > ? AND name < ? AND document <> '' ORDER BY name LIMIT ?";

    private final Dialect dialect;
    private final JdbcSettings settings;
    private final Map<String, String> complete = new HashMap<>();

    Statements(Dialect dialect, JdbcSettings settings) {
        this.dialect = dialect;
        this.settings = settings;
    }

    Dialect dialect() {
        return dialect;
    }

    String keyTable() {
        return settings.tablePrefix() + "key";
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

    /** One of the statements here or of the dialect, for this database. */
    String of(String template) {
        return complete.computeIfAbsent(template, this::complete);
    }

    private String complete(String template) {
        return template.replace(
                        "{live}",
                        "{member} m, {epoch} e WHERE m.id = ? AND e.prefix = m.prefix AND e.epoch = ? AND m.epoch = e.epoch"
                                + " AND e.server = {server}")
                .replace("{server}", dialect.server)
                .replace("{this}", dialect.thisServer)
                .replace("{now}", dialect.now)
                .replace("{age}", Long.toString(TimeUnit.MICROSECONDS.convert(settings.emptied())))
                .replace("{key}", keyTable())
                .replace("{member}", settings.tablePrefix() + "member")
                .replace("{epoch}", settings.tablePrefix() + "epoch");
    }
}
