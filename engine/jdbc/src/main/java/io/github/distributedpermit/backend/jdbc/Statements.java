package io.github.distributedpermit.backend.jdbc;

import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The statements of a database, with the names of the tables. Immutable. */
final class Statements {

    /** Lists of names are padded to one of these lengths, so that few statements are prepared. */
    private static final List<Integer> LENGTHS = List.of(1, 8, 64);

    private final Dialect dialect;
    private final String keyTable;
    private final String memberTable;

    final String update;
    final String insert;
    final String begin;
    final String renew;
    final String reap;
    final String members;
    final String end;
    final String name;
    final String markEvicted;
    final String sweep;
    final @Nullable String send;

    Statements(Dialect dialect, String tablePrefix) {
        this.dialect = dialect;
        this.keyTable = tablePrefix + "key";
        this.memberTable = tablePrefix + "member";
        update = of("UPDATE {key} SET revision = ?, touched = GREATEST({now}, ?), document = ?"
                + " WHERE name = ? AND revision = ? AND EXISTS (SELECT 1 FROM {member} WHERE id = ?)");
        insert = of(dialect.insert());
        begin = of("INSERT INTO {member} (id, prefix, name, expires, evictions) VALUES (?, ?, ?, {now} + ?, 0)");
        renew = of("UPDATE {member} SET expires = {now} + ? WHERE id = ?");
        reap = of("DELETE FROM {member} WHERE prefix = ? AND expires < {now}");
        members = of("SELECT id, evictions FROM {member} WHERE prefix = ?");
        end = of("DELETE FROM {member} WHERE id = ?");
        name = of("SELECT name FROM {member} WHERE id = ?");
        markEvicted = of("UPDATE {member} SET evictions = evictions + 1 WHERE id = ?");
        sweep = of(dialect.sweep());
        send = dialect.send();
    }

    Dialect dialect() {
        return dialect;
    }

    String keyTable() {
        return keyTable;
    }

    /** The rows of some keys, and one row with the clock and no name. */
    String read(int names) {
        return of("SELECT name, revision, touched, document, {now} FROM {key} WHERE name IN (" + marks(names)
                + ") UNION ALL SELECT NULL, NULL, NULL, NULL, {now}");
    }

    /** Which of some sessions have a row. */
    String alive(int sessions) {
        return of("SELECT id FROM {member} WHERE id IN (" + marks(sessions) + ")");
    }

    /** How many parameters a list of this length has; the last value fills the rest. */
    static int padded(int length) {
        for (int size : LENGTHS) {
            if (length <= size) {
                return size;
            }
        }
        return length;
    }

    private static String marks(int count) {
        return String.join(", ", Collections.nCopies(padded(count), "?"));
    }

    private String of(String template) {
        return template.replace("{key}", keyTable)
                .replace("{member}", memberTable)
                .replace("{now}", dialect.now());
    }
}
