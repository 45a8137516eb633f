package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.KeyEncoding;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * The names of a permit's key in Redis, all in one hash slot. Immutable.
 *
 * <p>Two of them are equal if their states have the same name, which includes the prefix.
 *
 * @param user the key as the user gave it
 * @param encoded the key as it is part of the names
 * @param names in the order that the scripts expect
 */
record RedisKey(String user, String encoded, byte[][] names) {

    /** The names are part of the stored format, so that they do not change. */
    private static final List<String> PARTS = List.of("state", "line", "leases", "tombs", "override");

    /** How many names each key has. */
    static final int NAMES = 5;

    static RedisKey of(String prefix, String user) {
        String encoded = KeyEncoding.encode(user);
        // The braces are a hash tag: the names of a key are in one slot, which a script in a cluster requires.
        String stem = prefix + ":{" + encoded + "}:";
        byte[][] names = new byte[NAMES][];
        for (int i = 0; i < NAMES; i++) {
            names[i] = bytes(stem + PARTS.get(i));
        }
        return new RedisKey(user, encoded, names);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * The name of the state. It determines the slot, and represents the key in messages. Not to be changed by the
     * caller.
     */
    byte[] state() {
        return names[0];
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RedisKey that && Arrays.equals(state(), that.state());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(state());
    }

    @Override
    public String toString() {
        return new String(state(), StandardCharsets.UTF_8);
    }
}
