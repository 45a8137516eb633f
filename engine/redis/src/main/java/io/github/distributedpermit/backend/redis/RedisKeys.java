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
    private final ConcurrentMap<String, Known> byUser = new ConcurrentHashMap<>();

    RedisKeys(String prefix) {
        this.prefix = prefix;
    }

    /**
     * The key of a claim; it stays known until a claim wants nothing of it any more. Claims of a key may come here in another
     * order than they were made: one that wants nothing says nothing about a later one.
     */
    RedisKey of(Claim claim) {
        if (claim.wanted() == 0) {
            Known known = byUser.get(claim.key());
            byUser.computeIfPresent(claim.key(), (user, used) -> {
                if (used.until > claim.sequence()) {
                    return used;
                }
                inUse.remove(used.key.encoded());
                return null;
            });
            return known == null ? of(claim.key()) : known.key;
        }
        Known known = byUser.compute(claim.key(), (user, used) -> {
            Known now = used != null || !claim.queue() ? used : use(user);
            if (now != null) {
                now.until = Math.max(now.until, claim.sequence());
            }
            return now;
        });
        return known == null ? of(claim.key()) : known.key;
    }

    private Known use(String user) {
        RedisKey key = of(user);
        inUse.put(key.encoded(), key);
        return new Known(key);
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

    private static final class Known {

        final RedisKey key;

        /** The last claim that uses it; guarded by its place in the map. */
        long until;

        Known(RedisKey key) {
            this.key = key;
        }
    }
}
