package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.KeyEncoding;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * The names a key has in Redis, all in one hash slot.
 *
 * @param user as the user gave it
 * @param encoded as it stands in the names
 * @param state the name of the state; decides the slot, and the other names follow from it
 */
record RedisKey(String user, String encoded, byte[] state) {

    private static final String STATE = "state";
    private static final List<String> PARTS = List.of(STATE, "line", "leases", "tombs", "override");

    static RedisKey of(String prefix, String user) {
        String encoded = KeyEncoding.encode(user);
        return new RedisKey(user, encoded, bytes(prefix + ":{" + encoded + "}:" + STATE));
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** All names, in the order the scripts know. */
    byte[][] names() {
        String name = toString();
        String stem = name.substring(0, name.length() - STATE.length());
        return PARTS.stream().map(part -> bytes(stem + part)).toArray(byte[][]::new);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RedisKey that && Arrays.equals(state, that.state);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(state);
    }

    @Override
    public String toString() {
        return new String(state, StandardCharsets.UTF_8);
    }
}
