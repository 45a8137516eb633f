package io.github.distributedpermit.backend.redis;

import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;

/**
 * The name under which a server stores its lineage (lineage.lua): one for each prefix, and in a cluster one for each slot, with a
 * hash tag of that slot, because a script may use the keys of one slot only. Thread-safe.
 */
final class LineageNames {

    private final String prefix;
    private final byte[] single;
    /** {@code null} for a slot that was not used yet. */
    private final byte[][] bySlot = new byte[SlotHash.SLOT_COUNT][];

    LineageNames(String prefix) {
        this.prefix = prefix;
        this.single = RedisKey.bytes(prefix + ":lineage");
    }

    /** The name on a server that is in no cluster. */
    byte[] single() {
        return single;
    }

    /** The name that goes with the names of a key. */
    byte[] of(RedisKey key, boolean cluster) {
        if (!cluster) {
            return single;
        }
        int slot = SlotHash.getSlot(key.state());
        byte[] known = bySlot[slot]; // threads that find none make equal ones
        if (known == null) {
            known = RedisKey.bytes(prefix + ":{" + tag(slot) + "}:lineage");
            bySlot[slot] = known;
        }
        return known;
    }

    /**
     * The shortest number that belongs to the slot. Finding it takes some 16,000 hashes, once for each slot in use.
     * Every member computes the same one, so that all members of a slot share its lineage.
     */
    private static String tag(int slot) {
        int number = 0;
        while (SlotHash.getSlot(Integer.toString(number).getBytes(StandardCharsets.US_ASCII)) != slot) {
            number++;
        }
        return Integer.toString(number);
    }
}
