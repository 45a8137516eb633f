package io.github.distributedpermit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KeyEncodingTest {

    private static final String ODD = "aZ09-_~%. /\\:{}[]?*+'\"\n\r\t\u0000\u007fäß日\u0308\u2028\ud83d\ude00";

    @Test
    void plainKeysStayAsTheyAre() {
        assertThat(KeyEncoding.encode("report-export_42")).isEqualTo("report-export_42");
    }

    @Test
    void everythingElseIsEscaped() {
        assertThat(KeyEncoding.encode("a b/ä")).isEqualTo("a%20b%2F%C3%A4");
        assertThat(KeyEncoding.encode("}{..~%")).isEqualTo("%7D%7B%2E%2E%7E%25");
        assertThat(KeyEncoding.encode("\u0000\n")).isEqualTo("%00%0A");
    }

    @Test
    void everyEncodedKeyIsShortAndOfSafeCharacters() {
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            assertThat(KeyEncoding.encode(key(random, 200))).matches("[A-Za-z0-9_%~-]{1,160}");
        }
    }

    @Test
    void shortKeysCanBeReadBack() {
        Random random = new Random(2);
        for (int i = 0; i < 20_000; i++) {
            String key = key(random, 17);
            assertThat(decode(KeyEncoding.encode(key))).isEqualTo(key);
        }
    }

    @Test
    void differentKeysStayDifferent() {
        Random random = new Random(3);
        Map<String, String> keys = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            // few letters and lengths around the bound, so that near misses are many
            String key = i % 2 == 0 ? key(random, 3) : "k".repeat(150 + random.nextInt(20)) + key(random, 2);
            String other = keys.putIfAbsent(KeyEncoding.encode(key), key);
            assertThat(other == null || other.equals(key))
                    .as("%s and %s", other, key)
                    .isTrue();
        }
    }

    @Test
    void whatLooksEncodedIsEncodedAgain() {
        for (String key : new String[] {"a b", "\ud83d", "k".repeat(10_000), "ä".repeat(100)}) {
            String once = KeyEncoding.encode(key);
            assertThat(KeyEncoding.encode(once)).isNotEqualTo(once);
        }
    }

    @Test
    void longKeysKeepAReadableHeadAndDifferInTheirHash() {
        String one = KeyEncoding.encode("tenant-".repeat(1_000) + "1");
        String two = KeyEncoding.encode("tenant-".repeat(1_000) + "2");

        assertThat(one).startsWith("tenant-tenant-").hasSizeLessThanOrEqualTo(KeyEncoding.MAX_LENGTH);
        assertThat(one).isNotEqualTo(two);
    }

    @Test
    void unpairedSurrogatesDoNotCollide() {
        assertThat(KeyEncoding.encode("\ud83d"))
                .isNotEqualTo(KeyEncoding.encode("\ud83e"))
                .isNotEqualTo(KeyEncoding.encode("?"))
                .isNotEqualTo(KeyEncoding.encode("\ufffd"));
        String head = "k".repeat(200);
        assertThat(KeyEncoding.encode(head + "\ud83d")).isNotEqualTo(KeyEncoding.encode(head + "\ud83e"));
    }

    private static String key(Random random, int longest) {
        StringBuilder key = new StringBuilder();
        int length = 1 + random.nextInt(longest);
        for (int i = 0; i < length; i++) {
            key.append(ODD.charAt(random.nextInt(ODD.length())));
        }
        return key.toString();
    }

    /** Written from the Javadoc of the encoding, not from its code. */
    private static String decode(String encoded) {
        boolean utf16 = encoded.startsWith("%u");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = utf16 ? 2 : 0; i < encoded.length(); i++) {
            if (encoded.charAt(i) == '%') {
                bytes.write(HexFormat.fromHexDigits(encoded, i + 1, i + 3));
                i += 2;
            } else {
                bytes.write(encoded.charAt(i));
            }
        }
        return utf16
                ? ByteBuffer.wrap(bytes.toByteArray()).asCharBuffer().toString()
                : bytes.toString(StandardCharsets.UTF_8);
    }
}
