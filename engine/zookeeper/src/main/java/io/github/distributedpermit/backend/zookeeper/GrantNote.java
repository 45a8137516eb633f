package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.snapshot.NewerParts;
import io.github.distributedpermit.spi.snapshot.RecordText;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The notification that the member which grants permits to another one writes into that member's node: format, minimum
 * reader, and what the member has now. A newer version may add fields. A new node is empty. Stateless.
 *
 * <p>A later note replaces an earlier one, since each states all that the member has.
 */
final class GrantNote {

    /** Format and minimum reader. */
    private static final int OWN_FIELDS = 2;

    /** At least so many; what a newer version appends is not read. */
    private static final int FIELDS = OWN_FIELDS + RecordText.HOLDING_FIELDS;

    private GrantNote() {}

    /** The re-check time is no part of it: with sessions no lease expires. */
    static byte[] encode(Holding holding) {
        String text = NewerParts.FORMAT + " " + NewerParts.MINIMUM_READER + " " + RecordText.of(holding);
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Empty if there is no notification yet, or none that this version may read. Then the member finds its grant, or the
     * reason why not, with its next claim.
     */
    static Optional<Holding> decode(byte[] bytes) {
        // ISO 8859-1 maps every byte to a character, so that foreign data cannot fail here.
        String[] f = new String(bytes, StandardCharsets.ISO_8859_1).split(" ", FIELDS + 1);
        if (f.length < FIELDS) {
            return Optional.empty();
        }
        try {
            // The minimum reader: the writer states that this version would read the note wrongly.
            if (Integer.parseInt(f[1]) > NewerParts.FORMAT) {
                return Optional.empty();
            }
            return Optional.of(RecordText.holding(f, OWN_FIELDS));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
