package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Finds the key of the user for the encoded form in a notification: the encoded form may be a hash, which can't be decoded.
 * Knows the keys that the member holds or waits for at the moment, and no others. Thread-safe.
 */
final class RedisKeys {

    private final String prefix;
    /** For notifications; has an entry for each of {@link #byUser}, and changes within its operations. */
    private final ConcurrentMap<String, RedisKey> byEncoded = new ConcurrentHashMap<>();
    /** Keys in use, as the user gave them. */
    private final ConcurrentMap<String, InUse> byUser = new ConcurrentHashMap<>();

    RedisKeys(String prefix) {
        this.prefix = prefix;
    }

    /**
     * Returns the key of a claim, and keeps it until a later claim wants nothing of it. The claims of a key may arrive here in
     * another order than they were made. So a claim that wants nothing does not remove a key that a later claim uses.
     */
    RedisKey keyOf(Claim claim) {
        if (claim.wanted() == 0) {
            InUse known = byUser.get(claim.key());
            byUser.computeIfPresent(claim.key(), (user, used) -> {
                if (used.lastSequence > claim.sequence()) {
                    return used;
                }
                byEncoded.remove(used.key.encoded());
                return null;
            });
            return known == null ? keyOf(claim.key()) : known.key;
        }
        // A claim that does not queue does not begin to use a key: no grant follows of which the member would be
        // notified.
        InUse known = byUser.compute(claim.key(), (user, used) -> {
            InUse now = used != null || !claim.queue() ? used : use(user);
            if (now != null) {
                now.lastSequence = Math.max(now.lastSequence, claim.sequence());
            }
            return now;
        });
        return known == null ? keyOf(claim.key()) : known.key;
    }

    private InUse use(String user) {
        RedisKey key = keyOf(user);
        byEncoded.put(key.encoded(), key);
        return new InUse(key);
    }

    RedisKey keyOf(String user) {
        return RedisKey.of(prefix, user);
    }

    /** The user's key; empty if the member neither holds nor waits for it. */
    Optional<String> userKey(String encoded) {
        return Optional.ofNullable(byEncoded.get(encoded)).map(RedisKey::user);
    }

    /** The channel on which a member is notified. */
    static byte[] channel(String prefix, String memberId) {
        return RedisKey.bytes(prefix + ":member:" + memberId);
    }

    private static final class InUse {

        final RedisKey key;

        /** Of the claims that use the key; guarded by the entry of the map. */
        long lastSequence;

        InUse(RedisKey key) {
            this.key = key;
        }
    }
}
