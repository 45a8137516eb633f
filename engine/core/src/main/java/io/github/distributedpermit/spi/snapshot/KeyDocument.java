package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that is recorded for a key, as text, for stores that keep one document for each key: a line with the format, one for
 * the key, and one for each member that holds or waits. Fields that a newer version has added at the end of a line are kept,
 * and so are lines that begin with {@code +}. Immutable.
 *
 * <p>ZooKeeper keeps it in a node, a database in a row. All members of a key are in one document, so that one conditional
 * write is enough for a step; its size bounds the number of members.
 *
 * @param ticks the highest version given to a record. A store may count versions, and places in the queue, from a number of
 *     its own that never falls
 * @param override the operator's limit, if set
 * @param records of the members, also of those that have died since
 * @param newer the format, and what this version does not know
 */
public record KeyDocument(long ticks, OverrideLimit override, Collection<PermitRecord> records, NewerParts newer) {

    /** Of a key that is not used. */
    public static final KeyDocument EMPTY = unused(0);

    private static final String NAME = "distributed-permit";
    /** Marks a line that a newer version has added and that is no record. */
    private static final char ENTRY = '+';

    private static final int HEADER_FIELDS = 3;
    private static final int KEY_FIELDS = 2;

    /** Those of a record, and since format 2 one that is left out if it is 0 and nothing follows. */
    private static final int MEMBER_FIELDS = RecordText.RECORD_FIELDS + 1;

    /** Of a key that is not used, with the highest version that was given to a record of it. */
    public static KeyDocument unused(long ticks) {
        return new KeyDocument(ticks, OverrideLimit.empty(), List.of(), NewerParts.NONE);
    }

    /**
     * The same after a loss of state, which makes all records void.
     *
     * @param above all versions that were lost
     */
    public KeyDocument withoutRecords(long above) {
        return new KeyDocument(Math.max(ticks, above), override, List.of(), newer);
    }

    /** Whether nothing but the version would be lost with it. */
    public boolean isUnused() {
        return equals(unused(ticks));
    }

    /**
     * What is recorded for a member. Also of a member that has died: whether a record counts is decided by the
     * {@link Snapshot}.
     */
    public Optional<PermitRecord> record(String member) {
        return records.stream().filter(r -> r.member().equals(member)).findFirst();
    }

    /** Ends with a line end; what follows the last one is not read. */
    public byte[] encode() {
        StringBuilder text = new StringBuilder(64 + 96 * records.size());
        text.append(NAME).append(' ').append(newer.format());
        text.append(' ').append(newer.minimumReader());
        text.append(newer.header()).append('\n').append(ticks).append(' ');
        text.append(override.text());
        text.append(newer.key()).append('\n');
        for (PermitRecord r : records) {
            text.append(RecordText.of(r));
            // The optional field has to be there if a field of a newer version follows, because fields are found by
            // their places.
            String tail = newer.member(r.member());
            text.append(r.shown().waitingBeyondWanted() == 0 && !tail.isEmpty() ? " 0" : "")
                    .append(tail)
                    .append('\n');
        }
        for (String entry : newer.entries()) {
            text.append(entry).append('\n');
        }
        // Members and what newer versions have added were read with the same character set, so that their bytes stay
        // as they are.
        return text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /**
     * Fails with {@code IllegalArgumentException} if this is no document of ours, and with {@link NewerFormatException} if
     * only newer versions may use it; nothing else of it is looked at then.
     */
    public static KeyDocument decode(byte[] bytes) {
        String[] lines = new String(bytes, StandardCharsets.ISO_8859_1).split("\n", -1);
        String[] header = lines[0].split(" ", HEADER_FIELDS + 1);
        if (header.length < HEADER_FIELDS || !header[0].equals(NAME)) {
            throw new IllegalArgumentException("It does not begin with '" + NAME + "' and two numbers");
        }
        int format = Integer.parseInt(header[1]);
        int minimumReader = Integer.parseInt(header[2]);
        // Before anything else is parsed, since the rest may have another form.
        if (minimumReader > NewerParts.FORMAT) {
            throw new NewerFormatException(format, minimumReader);
        }
        if (lines.length < 3) {
            throw new IllegalArgumentException("It has no line for the key");
        }
        String[] key = fields(lines[1], KEY_FIELDS, KEY_FIELDS);
        List<PermitRecord> records = new ArrayList<>(lines.length);
        Map<String, String> members = new HashMap<>();
        List<String> entries = new ArrayList<>();
        for (int i = 2; i < lines.length - 1; i++) { // behind the last line end there is an empty text
            if (!lines[i].isEmpty() && lines[i].charAt(0) == ENTRY) {
                entries.add(lines[i]);
                continue;
            }
            String[] fields = fields(lines[i], RecordText.RECORD_FIELDS, MEMBER_FIELDS);
            records.add(RecordText.record(fields));
            // Kept with the member: if its record is removed, the fields go with it.
            if (fields.length > MEMBER_FIELDS) {
                members.put(fields[0], tail(fields, MEMBER_FIELDS));
            }
        }
        OverrideLimit override = OverrideLimit.parse(key[1]);
        NewerParts newer = NewerParts.of(
                format, minimumReader, tail(header, HEADER_FIELDS), tail(key, KEY_FIELDS), members, entries);
        return new KeyDocument(Long.parseLong(key[0]), override, records, newer);
    }

    /**
     * The known fields, and behind them, as one, all that follows.
     *
     * @param least fewer fields are an error
     * @param known how many fields are split off; those after them stay together
     */
    private static String[] fields(String line, int least, int known) {
        String[] fields = line.split(" ", known + 1);
        if (fields.length < least) {
            throw new IllegalArgumentException(fields.length + " fields instead of " + least);
        }
        return fields;
    }

    /** With the space in front, so that it can be appended as it is. */
    private static String tail(String[] fields, int known) {
        return fields.length > known ? " " + fields[known] : "";
    }
}
