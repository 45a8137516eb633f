package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Any client of the server may publish on the channel of a member. */
class ExpiryNoticeTest {

    private static final int HEAD = 24;

    /** As serve.lua packs it. */
    private static byte[] message(char letter, int reader) {
        byte[] member = "9f31".getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(HEAD + member.length + 3)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) letter)
                .put((byte) 9)
                .put((byte) reader)
                .putDouble(12_500)
                .putInt(3)
                .putInt(2)
                .putInt(5)
                .put((byte) member.length)
                .put(member)
                .put("key".getBytes(StandardCharsets.UTF_8))
                .array();
    }

    @Test
    void allPartsAreRead() {
        assertThat(ExpiryNotice.read(message('E', 1)))
                .contains(new ExpiryNotice("key", "9f31", Duration.ofNanos(12_500_000), 3, 2, 5));
    }

    @Test
    void otherKindsNewerReadersAndTornMessagesAreNoNotices() {
        assertThat(ExpiryNotice.read(message('G', 1))).isEmpty();
        assertThat(ExpiryNotice.read(message('E', ClaimCodec.FORMAT + 1))).isEmpty();
        byte[] whole = message('E', 1);
        for (int length = 0; length <= HEAD + 4; length++) {
            assertThat(ExpiryNotice.read(Arrays.copyOf(whole, length)))
                    .as("the first %d bytes", length)
                    .isEmpty();
        }
    }
}
