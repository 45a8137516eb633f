package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.gson.JsonParser;
import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

    private static final String ODD = "a\"\\/\b\f\n\r\t\u0000\u001fü日😀\u2028";

    @Test
    void whatIsWrittenIsReadByAnotherParserAndByOurs() {
        Map<String, Object> value = new LinkedHashMap<>();
        value.put(ODD, ODD);
        value.put("numbers", List.of(0, -1, Long.MAX_VALUE, new BigInteger(Long.toUnsignedString(LockFileTree.FLAGS))));
        value.put("nested", Map.of("empty", Map.of(), "none", List.of(), "yes", true));

        String text = JsonText.of(value);

        assertThat(JsonParser.parseString(text).getAsJsonObject().get(ODD).getAsString())
                .isEqualTo(ODD);
        JsonObject read = Json.object(text);
        assertThat(read.text(ODD)).isEqualTo(ODD);
        assertThat(read.members().get("numbers")).isEqualTo(List.of(0L, -1L, Long.MAX_VALUE, LockFileTree.FLAGS));
        assertThat(read.object("nested").flag("yes")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "{\"a\"}",
                "{\"a\":}",
                "[1,]",
                "[1 2]",
                "\"a",
                "\"\\x\"",
                "\"\\u12\"",
                "tru",
                "1 2",
                "--1",
                "{a:1}",
                "18446744073709551616"
            })
    void whatIsNotJsonIsSaidToBeSo(String text) {
        assertThatExceptionOfType(MalformedJsonException.class).isThrownBy(() -> Json.parse(text));
    }

    @Test
    void deepNestingDoesNotOverflowTheStack() {
        assertThatExceptionOfType(MalformedJsonException.class).isThrownBy(() -> Json.parse("[".repeat(100_000)));
    }

    @Test
    void damagedTextNeverFailsOtherwise() {
        String whole = "{\"Results\":[{\"KV\":{\"Key\":\"a\\u00e9\",\"Flags\":0,\"Value\":null,\"x\":[1.5e3,true]}}]}";
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            StringBuilder damaged = new StringBuilder(whole);
            for (int j = 0; j <= random.nextInt(3); j++) {
                damaged.setCharAt(random.nextInt(damaged.length()), "{}[]\",:\\0a-. ".charAt(random.nextInt(13)));
            }
            try {
                Json.parse(damaged.toString());
            } catch (MalformedJsonException expected) {
                assertThat(expected).hasMessageContaining("Not JSON");
            }
        }
    }
}
