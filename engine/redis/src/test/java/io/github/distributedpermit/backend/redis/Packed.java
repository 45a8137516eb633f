package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The packed form of claims and of stored records, read without the scripts. */
final class Packed {

    static final String HEADER = "*";

    /** The mark, the format and the minimum reader precede it. */
    private static final int HEADER_START = 4;

    private static final int RECORD_WAITING = 60;

    private Packed() {}

    static byte[] claim(Claim claim) {
        ClaimCall call = new ClaimCall(claim, RedisKey.of("any", claim.key()));
        return ClaimCodec.packClaims(
                List.of(call),
                Duration.ofSeconds(30),
                false,
                same -> claim.reclaim().knownEpoch());
    }

    record Header(int used, int queued, int override, long version) {

        static Header of(byte[] packed) {
            ByteBuffer in = buffer(packed).position(HEADER_START);
            return new Header(in.getInt(), in.getInt(), in.getInt(), (long) in.getDouble());
        }
    }

    record Member(int permits, int wanted, int limit, long sequence, boolean waiting) {

        static Member of(byte[] packed) {
            ByteBuffer in = buffer(packed);
            int permits = in.getInt();
            int wanted = in.getInt();
            in.getInt();
            in.getInt();
            int limit = in.getInt();
            long sequence = (long) in.getDouble();
            return new Member(permits, wanted, limit, sequence, packed[RECORD_WAITING] % 2 == 1);
        }
    }

    private static ByteBuffer buffer(byte[] packed) {
        return ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
    }

    static boolean isMember(Map.Entry<String, byte[]> field) {
        return field.getKey().matches("[\\w-]+");
    }
}
