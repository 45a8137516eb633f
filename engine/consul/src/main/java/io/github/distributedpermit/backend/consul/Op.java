package io.github.distributedpermit.backend.consul;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An operation of a transaction.
 *
 * @param answered whether the results of the transaction have an entry for it
 */
record Op(Map<String, Object> json, boolean answered) {

    static Op get(String key) {
        return new Op(fields("get", key), true);
    }

    static Op getTree(String prefix) {
        return new Op(fields("get-tree", prefix), true);
    }

    static Op set(String key, String value) {
        return new Op(withValue(fields("set", key), value), true);
    }

    /** Writes if the key was last changed at this index; 0: if it does not exist. A lock on it stays. */
    static Op cas(String key, long index, String value) {
        return new Op(withIndex(withValue(fields("cas", key), value), index), true);
    }

    /** Writes and binds the key to a session, unless another has it. */
    static Op lock(String key, String session, String value) {
        return new Op(withSession(withValue(fields("lock", key), value), session), true);
    }

    static Op unlock(String key, String session) {
        return new Op(withSession(fields("unlock", key), session), true);
    }

    static Op checkIndex(String key, long index) {
        return new Op(withIndex(fields("check-index", key), index), true);
    }

    static Op checkNotExists(String key) {
        return new Op(fields("check-not-exists", key), false);
    }

    /** Fails unless this session has locked the key. */
    static Op checkSession(String key, String session) {
        return new Op(withSession(fields("check-session", key), session), true);
    }

    static Op delete(String key) {
        return new Op(fields("delete", key), false);
    }

    static Op deleteCas(String key, long index) {
        return new Op(withIndex(fields("delete-cas", key), index), false);
    }

    private static Map<String, Object> fields(String verb, String key) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("Verb", verb);
        fields.put("Key", key);
        return fields;
    }

    private static Map<String, Object> withValue(Map<String, Object> fields, String value) {
        fields.put("Value", Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8)));
        return fields;
    }

    private static Map<String, Object> withIndex(Map<String, Object> fields, long index) {
        fields.put("Index", index);
        return fields;
    }

    private static Map<String, Object> withSession(Map<String, Object> fields, String session) {
        fields.put("Session", session);
        return fields;
    }

    Op flags(long flags) {
        Map<String, Object> fields = new LinkedHashMap<>(json);
        // unsigned: HashiCorp's flags are above Long.MAX_VALUE
        fields.put("Flags", new UnsignedLong(flags));
        return new Op(fields, answered);
    }

    /** Prints its 64 bits without a sign. */
    static final class UnsignedLong extends Number {

        private static final long serialVersionUID = 1L;

        private final long bits;

        UnsignedLong(long bits) {
            this.bits = bits;
        }

        @Override
        public int intValue() {
            return (int) bits;
        }

        @Override
        public long longValue() {
            return bits;
        }

        @Override
        public float floatValue() {
            return bits;
        }

        @Override
        public double doubleValue() {
            return bits;
        }

        @Override
        public String toString() {
            return Long.toUnsignedString(bits);
        }
    }
}
