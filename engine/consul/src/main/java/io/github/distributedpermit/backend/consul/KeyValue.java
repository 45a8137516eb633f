package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * A key as Consul has it, with its value. Immutable.
 *
 * <p>A value of {@code null}, as the contenders of {@code consul lock} have it, is a real entry with an empty text.
 *
 * @param value as text; empty if the key has none
 * @param session that has locked it
 * @param modified index of its last change
 * @param flags unsigned; HashiCorp's semaphore marks its keys by them
 */
record KeyValue(String key, String value, @Nullable String session, long flags, long modified) {

    static KeyValue of(JsonObject json) {
        String encoded = json.textOrNull("Value");
        return new KeyValue(
                json.text("Key"),
                encoded == null ? "" : decode(encoded),
                json.textOrNull("Session"),
                json.number("Flags"),
                json.number("ModifyIndex"));
    }

    private static String decode(String encoded) {
        try {
            return new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new MalformedJsonException("A value is not Base64");
        }
    }
}
