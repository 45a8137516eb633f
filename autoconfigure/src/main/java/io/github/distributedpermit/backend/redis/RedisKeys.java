package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The keys this member holds or waits for now, by their encoded form: a notice carries that, and a hashed one tells no
 * longer what the user's key was. As many as the member has keys in use. Thread-safe.
 */
final class RedisKeys {

    private final String prefix;
    private final ConcurrentMap<String, RedisKey> inUse = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, RedisKey> byUser = new ConcurrentHashMap<>();

    RedisKeys(String prefix) {
        this.prefix = prefix;
    }

    /** The key of a claim; it stays known until a claim wants nothing of it any more. */
    RedisKey of(Claim claim) {
        RedisKey known = byUser.get(claim.key());
        if (claim.wanted() == 0) {
            byUser.computeIfPresent(claim.key(), (user, key) -> {
                inUse.remove(key.encoded());
                return null;
            });
            return known == null ? of(claim.key()) : known;
        }
        if (known != null) {
            return known;
        }
        return claim.queue() ? byUser.computeIfAbsent(claim.key(), this::use) : of(claim.key());
    }

    private RedisKey use(String user) {
        RedisKey key = of(user);
        inUse.put(key.encoded(), key);
        return key;
    }

    RedisKey of(String user) {
        return RedisKey.of(prefix, user);
    }

    /** Empty if nobody here wants anything of the key now. */
    Optional<String> userKey(String encoded) {
        return Optional.ofNullable(inUse.get(encoded)).map(RedisKey::user);
    }

    int size() {
        return inUse.size();
    }

    /** Where a member hears its notices. */
    static byte[] channel(String prefix, String memberId) {
        return RedisKey.bytes(prefix + ":member:" + memberId);
    }
}
