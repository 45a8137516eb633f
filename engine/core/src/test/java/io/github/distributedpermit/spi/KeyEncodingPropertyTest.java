package io.github.distributedpermit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tuple.Tuple2;

class KeyEncodingPropertyTest implements OddKeys {

    @Property(tries = 5_000)
    void everyEncodedKeyIsShortAndOfSafeCharacters(@ForAll("keys") String key) {
        assertThat(KeyEncoding.encode(key)).matches("[A-Za-z0-9_%~-]{1," + KeyEncoding.MAX_LENGTH + "}");
    }

    @Property(tries = 5_000)
    void whatWasNotShortenedCanBeReadBack(@ForAll("keys") String key) {
        String encoded = KeyEncoding.encode(key);
        if (encoded.indexOf('~') < 0) {
            assertThat(decode(encoded)).isEqualTo(key);
        } else {
            assertThat(encoded).hasSizeLessThanOrEqualTo(KeyEncoding.MAX_LENGTH).matches(".{64}~[0-9A-F]{64}");
        }
    }

    @Property(tries = 10_000)
    void differentKeysStayDifferent(@ForAll("pairs") Tuple2<String, String> pair) {
        assertThat(KeyEncoding.encode(pair.get1())).isNotEqualTo(KeyEncoding.encode(pair.get2()));
    }

    /** Written from the Javadoc of the encoding, not from its code. */
    private static String decode(String encoded) {
        boolean units = encoded.startsWith("%u");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = units ? 2 : 0; i < encoded.length(); i++) {
            if (encoded.charAt(i) == '%') {
                bytes.write(HexFormat.fromHexDigits(encoded, i + 1, i + 3));
                i += 2;
            } else {
                bytes.write(encoded.charAt(i));
            }
        }
        return units
                ? ByteBuffer.wrap(bytes.toByteArray()).asCharBuffer().toString()
                : bytes.toString(StandardCharsets.UTF_8);
    }
}
