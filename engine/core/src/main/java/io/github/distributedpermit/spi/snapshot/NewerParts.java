package io.github.distributedpermit.spi.snapshot;

import java.util.List;
import java.util.Map;

/**
 * The format of a document, and what a newer version of this library has put into it that this version does not know. It
 * is kept as it is when the document is written, so that instances of two versions can share a key. Immutable.
 *
 * <p>{@link KeyDocument} carries it from the read to the write. The policy for mixed versions is in
 * docs/compatibility.md.
 *
 * @param format of the newest version that has written the document
 * @param minimumReader the lowest format that an instance has to know to use the document
 * @param header behind the known fields of the first line, with the space in front; empty if there is nothing
 * @param key the same of the row of the key
 * @param members the same of the lines of members, by id
 * @param entries whole lines
 */
public record NewerParts(
        int format, int minimumReader, String header, String key, Map<String, String> members, List<String> entries) {

    /** The format that this version writes. */
    public static final int FORMAT = 2;

    /** The lowest format that an instance has to know to use what this version writes. */
    public static final int MINIMUM_READER = 1;

    /** Of a document that this version creates. */
    static final NewerParts NONE = new NewerParts(FORMAT, MINIMUM_READER, "", "", Map.of(), List.of());

    /**
     * Neither number is ever lowered. A document that a newer version has written keeps its numbers, because its
     * additions are still in it.
     */
    static NewerParts of(
            int format,
            int minimumReader,
            String header,
            String key,
            Map<String, String> members,
            List<String> entries) {
        return new NewerParts(
                Math.max(format, FORMAT),
                Math.max(minimumReader, MINIMUM_READER),
                header,
                key,
                Map.copyOf(members),
                List.copyOf(entries));
    }

    /** Empty for a member about which no newer version has written anything. */
    String member(String id) {
        return members.getOrDefault(id, "");
    }
}
