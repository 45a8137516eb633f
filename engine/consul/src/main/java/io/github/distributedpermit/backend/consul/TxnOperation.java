package io.github.distributedpermit.backend.consul;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An operation of a transaction, as Consul's {@code /v1/txn} takes it. Immutable.
 *
 * <p>The methods are the verbs of Consul. Unless a method says otherwise, a condition that does not hold refuses the
 * whole transaction, and its index is named in {@link TxnOutcome.Refused}.
 *
 * @param answered whether the results of the transaction have an entry for it
 */
record TxnOperation(Map<String, Object> json, boolean answered) {

    /** The key that is read or changed, or the prefix of a tree. */
    String key() {
        return String.valueOf(json.get("Key"));
    }

    /** Reads; the transaction is refused if the key does not exist. */
    static TxnOperation get(String key) {
        return answered("get", key);
    }

    /**
     * Reads all keys that begin with the prefix, as the operations before have left them; there may be none. As the
     * last operation of a change it returns the exact state that the change has left.
     */
    static TxnOperation getTree(String prefix) {
        return answered("get-tree", prefix);
    }

    /** Writes without a condition; only for the operator's limit, of which the last one counts. */
    static TxnOperation set(String key, String value) {
        return answered("set", key, "Value", base64(value));
    }

    /** Writes if the key was last changed at this index; 0: if it does not exist. A lock on it stays. */
    static TxnOperation cas(String key, long index, String value) {
        return answered("cas", key, "Value", base64(value), "Index", index);
    }

    /**
     * Writes and binds the key to a session, unless another has it. Any client may lock for any live session, by
     * which one member can give another one a permit. An ended session refuses the transaction.
     */
    static TxnOperation lock(String key, String session, String value) {
        return answered("lock", key, "Value", base64(value), "Session", session);
    }

    /**
     * Releases the key and keeps it; the transaction is refused if another session has it. The next operation locks
     * it for another session, so that the permit is never free in between.
     */
    static TxnOperation unlock(String key, String session) {
        return answered("unlock", key, "Session", session);
    }

    /** Refuses the transaction unless the key was last changed at this index. */
    static TxnOperation checkIndex(String key, long index) {
        return answered("check-index", key, "Index", index);
    }

    /** Refuses the transaction if the key exists. */
    static TxnOperation checkNotExists(String key) {
        return new TxnOperation(fields("check-not-exists", key), false);
    }

    /** Fails unless this session has locked the key. */
    static TxnOperation checkSession(String key, String session) {
        return answered("check-session", key, "Session", session);
    }

    /** Deletes, also if there is no such key. */
    static TxnOperation delete(String key) {
        return new TxnOperation(fields("delete", key), false);
    }

    /**
     * Deletes if the key was last changed at this index. Two operations: {@link #deleteCas} alone also passes if the key does
     * not exist, so that a change which rests on the key would be committed after another member has deleted it.
     */
    static List<TxnOperation> deleteUnchanged(String key, long index) {
        return List.of(checkIndex(key, index), delete(key));
    }

    /**
     * Deletes unless the key was changed since this index; passes if there is no such key. Only for a key on whose
     * existence nothing in the transaction rests.
     */
    static TxnOperation deleteCas(String key, long index) {
        return new TxnOperation(fields("delete-cas", key, "Index", index), false);
    }

    private static TxnOperation answered(String verb, String key, Object... more) {
        return new TxnOperation(fields(verb, key, more), true);
    }

    /** @param more names and values in turn */
    private static Map<String, Object> fields(String verb, String key, Object... more) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("Verb", verb);
        fields.put("Key", key);
        for (int i = 0; i < more.length; i += 2) {
            fields.put(more[i].toString(), more[i + 1]);
        }
        return fields;
    }

    /** Consul takes and returns values in Base64. */
    private static String base64(String value) {
        return Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8));
    }

    /** @param flags 64 bits without a sign */
    TxnOperation flags(long flags) {
        Map<String, Object> fields = new LinkedHashMap<>(json);
        // unsigned: HashiCorp's flags are above Long.MAX_VALUE
        fields.put("Flags", new BigInteger(Long.toUnsignedString(flags)));
        return new TxnOperation(fields, answered);
    }
}
