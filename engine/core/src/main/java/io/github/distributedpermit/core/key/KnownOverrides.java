package io.github.distributedpermit.core.key;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The operators' limits of keys as of the last answers, also of keys that are not in use at the moment: a key that was paused
 * stays paused while the store does not answer. Bounded and thread-safe.
 */
final class KnownOverrides {

    /** Operators override few keys. Of more, only these are known without the store. */
    private static final int MOST = 10_000;

    private final ConcurrentMap<String, Integer> limits = new ConcurrentHashMap<>();

    /** Whether there ever was one: without overrides an answer costs one volatile read. */
    private volatile boolean used;

    /** An answer of the store has shown the limit in effect. */
    void note(String key, int limit, int own) {
        if (limit != own) {
            used = true;
            if (limits.size() < MOST || limits.containsKey(key)) {
                limits.put(key, limit);
            }
        } else if (used) {
            limits.remove(key);
        }
    }

    /** The limit in effect as far as it is known. */
    int limit(String key, int own) {
        return used ? limits.getOrDefault(key, own) : own;
    }
}
