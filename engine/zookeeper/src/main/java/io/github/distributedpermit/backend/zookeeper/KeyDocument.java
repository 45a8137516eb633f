package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What the node of a key says: a line for the key, and one for each member that holds or waits. Versions and places in
 * line count from the birth of the node.
 *
 * @param ticks the highest version given to a record
 * @param override the operator's limit, if set
 * @param records of the members, also of those that have died since
 */
record KeyDocument(long ticks, OptionalInt override, Collection<PermitRecord> records) {

    static final KeyDocument EMPTY = new KeyDocument(0, OptionalInt.empty(), List.of());

    /** What a server takes at most in one message, unless it is told otherwise, is a little more. */
    static final int MAX_BYTES = 1_000_000;

    private static final String HEADER = "distributed-permit 1";
    private static final String NONE = "-";
    private static final int KEY_FIELDS = 2;
    private static final int RECORD_FIELDS = 9;

    static KeyDocument of(KeyTable table) {
        return new KeyDocument(table.version(), table.override(), table.records());
    }

    KeyTable table() {
        return KeyTable.ofSessions(records, override, ticks);
    }

    boolean mentions(String member) {
        return record(member).isPresent();
    }

    /** What is recorded for a member. */
    Optional<PermitRecord> record(String member) {
        return records.stream().filter(r -> r.member().equals(member)).findFirst();
    }

    byte[] encode() {
        StringBuilder text = new StringBuilder(64 + 96 * records.size());
        text.append(HEADER).append('\n').append(ticks).append(' ');
        text.append(override.isPresent() ? override.getAsInt() : NONE).append('\n');
        for (PermitRecord r : records) {
            text.append(r.member()).append(' ').append(r.permits());
            text.append(' ').append(r.sequence()).append(' ').append(r.version());
            text.append(' ').append(r.wanted()).append(' ').append(r.unit());
            text.append(' ').append(r.least()).append(' ').append(r.limit());
            text.append(' ').append(r.since().isPresent() ? r.since().getAsLong() : NONE);
            text.append('\n');
        }
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    /** Fails with {@code IllegalArgumentException} if this is no document of ours. */
    static KeyDocument decode(byte[] bytes) {
        String[] lines = new String(bytes, StandardCharsets.US_ASCII).split("\n", -1);
        if (lines.length < 3 || !lines[0].equals(HEADER)) {
            throw new IllegalArgumentException("It does not begin with '" + HEADER + "'");
        }
        String[] key = fields(lines[1], KEY_FIELDS);
        List<PermitRecord> records = new ArrayList<>(lines.length);
        for (int i = 2; i < lines.length - 1; i++) {
            records.add(decodeRecord(lines[i]));
        }
        OptionalInt override = key[1].equals(NONE) ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(key[1]));
        return new KeyDocument(Long.parseLong(key[0]), override, records);
    }

    private static PermitRecord decodeRecord(String line) {
        String[] f = fields(line, RECORD_FIELDS);
        return new PermitRecord(
                f[0],
                Integer.parseInt(f[1]),
                Long.parseLong(f[2]),
                Long.parseLong(f[3]),
                Integer.parseInt(f[4]),
                Integer.parseInt(f[5]),
                Integer.parseInt(f[6]),
                Integer.parseInt(f[7]),
                f[8].equals(NONE) ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(f[8])),
                PermitRecord.NEVER);
    }

    private static String[] fields(String line, int count) {
        String[] fields = line.split(" ", -1);
        if (fields.length != count) {
            throw new IllegalArgumentException(fields.length + " fields instead of " + count);
        }
        return fields;
    }
}
