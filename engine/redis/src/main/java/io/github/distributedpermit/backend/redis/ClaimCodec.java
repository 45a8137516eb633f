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
import java.util.function.ToLongFunction;

/**
 * The binary format of claims, answers and notifications, as the library {@code struct} of the scripts packs them: little
 * endian, times in microseconds. The only number of Lua is the double, which is exact up to 2^53. Claims and answers have no
 * format number, because a member reads only those of its own scripts; notifications and stored records have one (see
 * docs/compatibility.md). Stateless.
 */
final class ClaimCodec {

    /** The format of stored records and of notifications in this version; common.lua says where else the number is. */
    static final int FORMAT = 2;

    /**
     * The first byte of a notification of a grant. Then follow the format, the minimum reader, the length of the view, the
     * view, and the encoded key. The view of a newer format is longer.
     */
    static final byte GRANT = 'G';

    /** Marks an epoch that the member knows only of other slots of the node. */
    static final long OF_NODE = 1L << 32;

    private static final int GRANT_READER = 2;
    private static final int GRANT_VIEW_LENGTH = 3;
    private static final int GRANT_VIEW = 4;

    /** The first byte of a message of a member to itself; a number follows. */
    static final byte ECHO = 'P';

    private static final int CLAIM_LENGTH = 8 * Integer.BYTES + 1 + 4 * Double.BYTES;

    /** The most that the two bytes of a record can say. */
    static final int MOST_WAITING = 65_535;

    /** The view in notifications of format 1, which know no epoch. */
    private static final int FIRST_VIEW_LENGTH = 2 * Integer.BYTES + 3 * Double.BYTES + 1;

    private static final int VIEW_LENGTH = FIRST_VIEW_LENGTH + Integer.BYTES;
    private static final int ECHO_LENGTH = 1 + Long.BYTES;
    private static final long MAX_EXACT = 1L << 53;
    private static final Duration MAX_DURATION = Duration.ofDays(3650);

    private ClaimCodec() {}

    /**
     * Packs claims one after the other.
     *
     * @param epochs the epoch that each claim carries
     */
    static byte[] packClaims(
            List<ClaimCall> calls, Duration tombstone, boolean cluster, ToLongFunction<ClaimCall> epochs) {
        ByteBuffer out = buffer(calls.size() * CLAIM_LENGTH);
        for (int i = 0; i < calls.size(); i++) {
            ClaimCall call = calls.get(i);
            pack(call.claim, tombstone, cluster, epochs.applyAsLong(call), out);
        }
        return out.array();
    }

    /** Throws if the sequence of the claim is not exact in Lua: in the thread of the caller, who gets the exception. */
    static Claim requireExactSequence(Claim claim) {
        if (claim.sequence() > MAX_EXACT) {
            throw new IllegalArgumentException("A sequence in Redis is at most 2^53, not " + claim.sequence());
        }
        return claim;
    }

    private static ByteBuffer pack(Claim claim, Duration tombstone, boolean cluster, long epoch, ByteBuffer out) {
        Claim.Counts counts = claim.counts();
        Claim.Head head = claim.head();
        Claim.Reclaim reclaim = claim.reclaim();
        return out.putInt(counts.limit())
                .putInt(counts.held())
                .putInt(counts.wanted())
                .putInt(head.weight())
                .put((byte) ((head.queues() ? 1 : 0)
                        + (cluster ? 2 : 0)
                        + (reclaim.checksEpoch() ? 4 : 0)
                        + ((epoch & OF_NODE) != 0 ? 8 : 0)))
                .putDouble(claim.sequence())
                .putDouble(micros(head.waited()))
                .putDouble(micros(claim.lease()))
                .putInt((int) Math.max(1, Math.min(tombstone.toMillis(), Integer.MAX_VALUE)))
                .putInt(reclaim.validlyHeld())
                .putInt((int) epoch)
                .putInt(Math.min(claim.shown().waitingBeyondWanted(), MOST_WAITING))
                .putDouble(reclaim.knownVersion());
    }

    /**
     * What the scripts have to know besides the claims, if members ask for a grace.
     *
     * @param newServerGrace how long a server without data waits for members that remember it
     * @param longestLease the longest lease of any member that this one knows of, in microseconds
     */
    static byte[] packGrace(Duration newServerGrace, long longestLease) {
        return buffer(2 * Double.BYTES)
                .putDouble(micros(newServerGrace))
                .putDouble(longestLease)
                .array();
    }

    /** Throws unless the answer has the length of the answers to so many claims. The longest lease may follow them. */
    static byte[] checkViews(byte[] packed, int claims) {
        int further = packed.length - claims * VIEW_LENGTH;
        if (further != 0 && further != Double.BYTES) {
            throw new IllegalArgumentException("The answer of the script to " + claims + " claims has " + packed.length
                    + " bytes instead of " + claims * VIEW_LENGTH);
        }
        return packed;
    }

    /** Reads the longest lease of any member, in microseconds, behind so many answers; 0 if it is not there. */
    static long readLongestLease(byte[] packed, int claims) {
        int at = claims * VIEW_LENGTH;
        return packed.length == at
                ? 0
                : (long) ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN).getDouble(at);
    }

    /** Reads one of the answers. */
    static Holding readView(byte[] packed, int number) {
        ByteBuffer in = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
        return readView(in.position(number * VIEW_LENGTH), true);
    }

    private static Holding readView(ByteBuffer in, boolean hasEpoch) {
        int permits = in.getInt();
        int limit = in.getInt();
        long sequence = (long) in.getDouble();
        long version = (long) in.getDouble();
        long recheck = (long) in.getDouble();
        int flags = in.get();
        Optional<Duration> recheckAfter =
                recheck < 0 ? Optional.empty() : Optional.of(Duration.of(recheck, ChronoUnit.MICROS));
        long epoch = hasEpoch ? Integer.toUnsignedLong(in.getInt()) : 0;
        return new Holding(
                permits,
                limit,
                sequence,
                version,
                epoch,
                new Holding.Others((flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, recheckAfter));
    }

    /** Whether the message is a notification of a grant that this version can read. */
    static boolean isGrant(byte[] message) {
        return message.length > GRANT_VIEW + FIRST_VIEW_LENGTH
                && message[0] == GRANT
                && unsigned(message, GRANT_READER) <= FORMAT
                && unsigned(message, GRANT_VIEW_LENGTH) >= FIRST_VIEW_LENGTH
                && message.length > grantedKeyStart(message);
    }

    /** Whether the message is a notification of a grant that only newer versions can read. */
    static boolean isNewerGrant(byte[] message) {
        return message.length > GRANT_VIEW && message[0] == GRANT && unsigned(message, GRANT_READER) > FORMAT;
    }

    static Holding readGrantedHolding(byte[] message) {
        ByteBuffer in = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
        boolean hasEpoch = unsigned(message, GRANT_VIEW_LENGTH) >= VIEW_LENGTH;
        return readView(in.position(GRANT_VIEW), hasEpoch);
    }

    static String readGrantedKey(byte[] message) {
        int start = grantedKeyStart(message);
        return new String(message, start, message.length - start, StandardCharsets.UTF_8);
    }

    private static int grantedKeyStart(byte[] message) {
        return GRANT_VIEW + unsigned(message, GRANT_VIEW_LENGTH);
    }

    private static int unsigned(byte[] bytes, int at) {
        return Byte.toUnsignedInt(bytes[at]);
    }

    static byte[] packEcho(long number) {
        return buffer(ECHO_LENGTH).put(ECHO).putLong(number).array();
    }

    static boolean isEcho(byte[] message) {
        return message.length == ECHO_LENGTH && message[0] == ECHO;
    }

    static long readEchoNumber(byte[] message) {
        return ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN).getLong(1);
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static double micros(Duration duration) {
        return TimeUnit.MICROSECONDS.convert(duration.compareTo(MAX_DURATION) > 0 ? MAX_DURATION : duration);
    }
}
