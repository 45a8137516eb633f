package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Holding;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** What whoever serves a member writes into the member's own node. A new node is empty. */
final class GrantNote {

    private static final int FIELDS = 6;

    private GrantNote() {}

    static byte[] encode(Holding holding) {
        String text = holding.permits() + " " + holding.limit() + " " + holding.sequence() + " " + holding.version()
                + " " + holding.contended() + " " + holding.over();
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Empty if nobody has served the member yet. */
    static Optional<Holding> decode(byte[] bytes) {
        String[] f = new String(bytes, StandardCharsets.US_ASCII).split(" ", -1);
        if (f.length != FIELDS) {
            return Optional.empty();
        }
        try {
            return Optional.of(new Holding(
                    Integer.parseInt(f[0]),
                    Integer.parseInt(f[1]),
                    Long.parseLong(f[2]),
                    Long.parseLong(f[3]),
                    Boolean.parseBoolean(f[4]),
                    Boolean.parseBoolean(f[5]),
                    Optional.empty()));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
