package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Expired;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * A notification that a claim of this member has freed permits of others whose leases had ended, as serve.lua packs it: a letter, the
 * format, the minimum reader, how long ago the first lease ended, three numbers, the length of the id of that member, the id, and the
 * encoded key. Immutable.
 */
record ExpiryNotice(String encodedKey, String member, Duration ago, int permits, int others, int permitsOfOthers) {

    private static final byte LETTER = 'E';
    private static final int READER = 2;
    private static final int NUMBERS = 3;
    private static final int MEMBER = NUMBERS + Double.BYTES + 3 * Integer.BYTES + 1;

    /** Empty if the message is none of these, or one that only newer versions can read. */
    static Optional<ExpiryNotice> read(byte[] message) {
        if (message.length <= MEMBER
                || message[0] != LETTER
                || Byte.toUnsignedInt(message[READER]) > ClaimCodec.FORMAT) {
            return Optional.empty();
        }
        int key = MEMBER + Byte.toUnsignedInt(message[MEMBER - 1]);
        if (message.length <= key) {
            return Optional.empty();
        }
        ByteBuffer in = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN).position(NUMBERS);
        return Optional.of(new ExpiryNotice(
                new String(message, key, message.length - key, StandardCharsets.UTF_8),
                new String(message, MEMBER, key - MEMBER, StandardCharsets.UTF_8),
                Duration.of((long) in.getDouble(), ChronoUnit.MICROS),
                in.getInt(),
                in.getInt(),
                in.getInt()));
    }

    Expired named(Optional<String> name) {
        return new Expired(member, name, permits, Optional.of(ago), others, permitsOfOthers);
    }
}
