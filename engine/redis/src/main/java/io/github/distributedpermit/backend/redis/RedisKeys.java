package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the key of the user for the encoded form in a notification: the encoded form may be a hash, which can't be decoded.
 * Knows the keys that the member holds or waits for at the moment, and no others. Thread-safe.
 */
final class RedisKeys {

    /** A power of two. Entries of {@link #recent}; a call takes no more than a hash and a comparison. */
    private static final int RECENT = 256;

    private final String prefix;
    /**
     * For notifications; has an entry for each of {@link #byUser}, and changes within its operations. Otherwise a
     * notification could find a key that is not in use, or miss one that is.
     */
    private final ConcurrentMap<String, RedisKey> byEncoded = new ConcurrentHashMap<>();
    /**
     * Keys that were used lately, each at the place that its hash determines: most calls use the same few keys, and building
     * the names of one takes a third of the caller's part of an acquire. Threads may overwrite each other's entry, which only
     * costs building it again.
     */
    private final @Nullable RedisKey[] recent = new RedisKey[RECENT];
    /** Keys in use, as the user gave them. */
    private final ConcurrentMap<String, InUse> byUser = new ConcurrentHashMap<>();

    RedisKeys(String prefix) {
        this.prefix = prefix;
    }

    /**
     * Returns the key of a claim, and keeps it until a later claim wants nothing of it, or is {@linkplain #ended refused}. The
     * claims of a key may arrive here in another order than they were made. So a claim that wants nothing does not remove a key
     * that a later claim uses. A claim that does not queue is kept as well: an operator may take from the member what it was
     * granted, of which the member is notified.
     *
     * @return also for a claim that wants nothing, which has to be sent like any other
     */
    RedisKey keyOf(Claim claim) {
        if (claim.counts().wanted() == 0) {
            InUse known = byUser.get(claim.key());
            remove(claim);
            return known == null ? keyOf(claim.key()) : known.key;
        }
        return byUser.compute(claim.key(), (user, used) -> {
                    InUse now = used == null ? use(user) : used;
                    now.lastSequence = Math.max(now.lastSequence, claim.sequence());
                    return now;
                })
                .key;
    }

    /**
     * A claim that does not queue was answered with so many permits, or failed. Without a permit its key is not used, unless by a
     * later claim: keys that are only tried, or tried while Redis is away, must not fill the memory. If the claim failed
     * although the member still holds a permit, the next renewal keeps the key again.
     *
     * @param permits what the answer has granted; 0 after a failure
     */
    void ended(Claim claim, int permits) {
        if (permits == 0) {
            remove(claim);
        }
    }

    /**
     * Both maps change within the operation on one entry, so that a later claim of the same key sees either all or
     * nothing of it.
     */
    private void remove(Claim claim) {
        byUser.computeIfPresent(claim.key(), (user, used) -> {
            if (used.lastSequence > claim.sequence()) {
                return used;
            }
            byEncoded.remove(used.key.encoded());
            return null;
        });
    }

    private InUse use(String user) {
        RedisKey key = keyOf(user);
        byEncoded.put(key.encoded(), key);
        return new InUse(key);
    }

    /** For calls that do not make the key one in use, such as inspections. */
    RedisKey keyOf(String user) {
        int hash = user.hashCode();
        // The upper bits are mixed in, because keys that differ only at their beginning have the same lower bits.
        int place = (hash ^ hash >>> 16) & RECENT - 1;
        RedisKey known = recent[place];
        if (known != null && known.user().equals(user)) {
            return known;
        }
        RedisKey key = RedisKey.of(prefix, user);
        recent[place] = key;
        return key;
    }

    /**
     * The user's key; empty if the member neither holds nor waits for it. A notification for another key is out of
     * date, since the member has returned everything.
     */
    Optional<String> userKey(String encoded) {
        return Optional.ofNullable(byEncoded.get(encoded)).map(RedisKey::user);
    }

    /** The channel on which a member is notified. */
    static byte[] channel(String prefix, String memberId) {
        return RedisKey.bytes(prefix + ":member:" + memberId);
    }

    /** A key in use, and the last claim that uses it. */
    private static final class InUse {

        final RedisKey key;

        /**
         * Of the claims that use the key; guarded by the entry of the map. An earlier claim that arrives out of order
         * must not remove the key.
         */
        long lastSequence;

        InUse(RedisKey key) {
            this.key = key;
        }
    }
}
