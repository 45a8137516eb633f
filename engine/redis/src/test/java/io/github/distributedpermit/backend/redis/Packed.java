package io.github.distributedpermit.backend.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;

/** Reads what the scripts keep, past the scripts. */
final class Packed {

    static final String HEADER = "*";

    /** Behind the mark, the format and the minimum reader. */
    private static final int HEADER_START = 4;

    private static final int RECORD_WAITING = 60;

    private Packed() {}

    record Header(int used, int line, int override, long version) {

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
            return new Member(permits, wanted, limit, sequence, packed[RECORD_WAITING] == 1);
        }
    }

    private static ByteBuffer buffer(byte[] packed) {
        return ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
    }

    static boolean isMember(Map.Entry<String, byte[]> field) {
        return field.getKey().matches("[\\w-]+");
    }
}
