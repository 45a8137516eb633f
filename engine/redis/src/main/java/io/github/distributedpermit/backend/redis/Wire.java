package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * What goes between member and scripts, packed as the scripts' {@code struct} does: little endian, times in microseconds.
 * Lua's only number is the double, which is exact to 2^53. Claims and answers stay between a member and its own scripts and
 * have no format number; notifications and what is stored do (see docs/compatibility.md).
 */
final class Wire {

    /** The format of the stored state and of notifications that this version knows; the scripts have the same number. */
    static final int FORMAT = 1;

    /**
     * A notification of a grant. The format and the minimum reader follow, the length of the view, the view, and the
     * encoded key. The view of a newer format is longer.
     */
    static final byte GRANT = 'G';

    private static final int GRANT_READER = 2;
    private static final int GRANT_VIEW_LENGTH = 3;
    private static final int GRANT_VIEW = 4;

    /** A member's word to itself, followed by a number. */
    static final byte PROBE = 'P';

    private static final int CLAIM_LENGTH = 4 * Integer.BYTES + 1 + 4 * Double.BYTES;
    private static final int VIEW_LENGTH = 2 * Integer.BYTES + 3 * Double.BYTES + 1;
    private static final int PROBE_LENGTH = 1 + Long.BYTES;
    private static final long MAX_EXACT = 1L << 53;
    private static final Duration MAX_DURATION = Duration.ofDays(3650);

    private Wire() {}

    static byte[] claim(Claim claim, Duration tombstone, boolean cluster) {
        return pack(claim, tombstone, cluster, buffer(CLAIM_LENGTH)).array();
    }

    /** One after the other. */
    static byte[] claims(List<ClaimCall> calls, Duration tombstone, boolean cluster) {
        ByteBuffer out = buffer(calls.size() * CLAIM_LENGTH);
        for (int i = 0; i < calls.size(); i++) {
            pack(calls.get(i).claim, tombstone, cluster, out);
        }
        return out.array();
    }

    /** Refuses what can't be packed, as long as somebody hears of it. */
    static Claim checked(Claim claim) {
        if (claim.sequence() > MAX_EXACT) {
            throw new IllegalArgumentException("A sequence in Redis is at most 2^53, not " + claim.sequence());
        }
        return claim;
    }

    private static ByteBuffer pack(Claim claim, Duration tombstone, boolean cluster, ByteBuffer out) {
        return out.putInt(claim.limit())
                .putInt(claim.held())
                .putInt(claim.wanted())
                .putInt(claim.unit())
                .put((byte) ((claim.queue() ? 1 : 0) + (cluster ? 2 : 0)))
                .putDouble(claim.sequence())
                .putDouble(micros(claim.waited()))
                .putDouble(micros(claim.lease()))
                .putDouble(micros(tombstone));
    }

    /** The answers to so many claims, if they are that. */
    static byte[] views(byte[] packed, int claims) {
        if (packed.length != claims * VIEW_LENGTH) {
            throw new IllegalArgumentException("Not the answer of the script: " + packed.length + " bytes");
        }
        return packed;
    }

    /** One of them. */
    static Holding view(byte[] packed, int number) {
        ByteBuffer in = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
        return view(in.position(number * VIEW_LENGTH));
    }

    private static Holding view(ByteBuffer in) {
        int permits = in.getInt();
        int limit = in.getInt();
        long sequence = (long) in.getDouble();
        long version = (long) in.getDouble();
        long recheck = (long) in.getDouble();
        int flags = in.get();
        Optional<Duration> recheckAfter =
                recheck < 0 ? Optional.empty() : Optional.of(Duration.of(recheck, ChronoUnit.MICROS));
        return new Holding(permits, limit, sequence, version, (flags & 1) != 0, (flags & 2) != 0, recheckAfter);
    }

    /** Whether it is a notification of a grant that this version can read. */
    static boolean isGrant(byte[] notice) {
        return notice.length > GRANT_VIEW + VIEW_LENGTH
                && notice[0] == GRANT
                && unsigned(notice, GRANT_READER) <= FORMAT
                && unsigned(notice, GRANT_VIEW_LENGTH) >= VIEW_LENGTH
                && notice.length > grantedKeyStart(notice);
    }

    /** Whether it is a notification of a grant that only newer versions can read. */
    static boolean isNewerGrant(byte[] notice) {
        return notice.length > GRANT_VIEW && notice[0] == GRANT && unsigned(notice, GRANT_READER) > FORMAT;
    }

    static Holding grantedHolding(byte[] notice) {
        ByteBuffer in = ByteBuffer.wrap(notice).order(ByteOrder.LITTLE_ENDIAN);
        return view(in.position(GRANT_VIEW));
    }

    static String grantedKey(byte[] notice) {
        int start = grantedKeyStart(notice);
        return new String(notice, start, notice.length - start, StandardCharsets.UTF_8);
    }

    private static int grantedKeyStart(byte[] notice) {
        return GRANT_VIEW + unsigned(notice, GRANT_VIEW_LENGTH);
    }

    private static int unsigned(byte[] bytes, int at) {
        return Byte.toUnsignedInt(bytes[at]);
    }

    static byte[] probe(long number) {
        return buffer(PROBE_LENGTH).put(PROBE).putLong(number).array();
    }

    static boolean isProbe(byte[] notice) {
        return notice.length == PROBE_LENGTH && notice[0] == PROBE;
    }

    static long probeNumber(byte[] notice) {
        return ByteBuffer.wrap(notice).order(ByteOrder.LITTLE_ENDIAN).getLong(1);
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static double micros(Duration duration) {
        return TimeUnit.MICROSECONDS.convert(duration.compareTo(MAX_DURATION) > 0 ? MAX_DURATION : duration);
    }
}
