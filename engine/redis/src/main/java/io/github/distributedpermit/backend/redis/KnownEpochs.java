package io.github.distributedpermit.backend.redis;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What the last answers have said about the servers: their epochs, and the longest lease that any member states. The first claim of a key carries the one that the member knows, so that a server without data
 * notices that a member remembers some, although not of this key. Each command carries the longest lease, so that a server that has lost it knows how long members may
 * hold what it has lost. In a cluster each slot has a lineage of its own, so epochs are
 * kept for each slot, and for each node to tell a slot that was never used from one whose data were lost. Thread-safe.
 *
 * <p>The rules by which a server compares epochs are in lineage.lua.
 */
final class KnownEpochs {

    /** The slot of a server that is in no cluster. */
    static final int NO_SLOT = -1;

    /** The lower bits of an epoch are different in each lineage of one server. */
    private static final int SALT_BITS = 16;

    /** How old the last answer that said the same has to be for another one to be noted. */
    private static final long REPETITION_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Outside a cluster it has one entry. */
    private final ConcurrentMap<Integer, Long> bySlot = new ConcurrentHashMap<>();
    /** By the id of the node, in a cluster only. */
    private final ConcurrentMap<String, Known> byNode = new ConcurrentHashMap<>();

    private final LongSupplier ticker;

    private volatile Lease longest = new Lease(0, 0);

    KnownEpochs(LongSupplier ticker) {
        this.ticker = ticker;
    }

    /**
     * @param epoch of the first answer of the node since it changed
     * @param since when that answer arrived, on the monotonic clock in nanoseconds
     */
    private record Known(long epoch, long since) {}

    /**
     * @param micros the length
     * @param at when an answer said so, on the monotonic clock in nanoseconds
     */
    private record Lease(long micros, long at) {}

    /**
     * The epoch that the claim carries; with {@link ClaimCodec#OF_NODE} if the member knows it of other slots of the node, for the
     * longest lease at least. The node has lost nothing since then if it still has this epoch.
     *
     * @return 0 if nothing is remembered, by which a server without data is taken for a new one
     */
    long epochFor(ClaimCall call, String node, int slot) {
        long own = call.claim.reclaim().knownEpoch();
        if (own != 0) {
            return own;
        }
        Long ofSlot = bySlot.get(slot);
        if (ofSlot != null) {
            return ofSlot;
        }
        Known known = byNode.get(node);
        long lease = Math.max(call.claim.lease().toNanos(), TimeUnit.MICROSECONDS.toNanos(longest.micros));
        boolean old = known != null && ticker.getAsLong() - known.since >= lease;
        return known != null && old ? known.epoch | ClaimCodec.OF_NODE : 0;
    }

    /**
     * The epoch of the last answer of a server that is in no cluster; 0 if there was none. Names the epoch under
     * which a former master is closed.
     */
    long epoch() {
        return bySlot.getOrDefault(NO_SLOT, 0L);
    }

    /** The longest lease of any member, in microseconds; 0 before the first answer. */
    long longestLease() {
        return longest.micros;
    }

    /**
     * An answer has said that this is the longest lease. In a cluster each slot has its own, of which the longest counts. It stops
     * counting when no answer has said so for as long as it is.
     */
    void received(long longestLease) {
        Lease before = longest;
        long now = ticker.getAsLong();
        long age = now - before.at;
        boolean isNews = longestLease > before.micros || (longestLease == before.micros && age > REPETITION_NANOS);
        if (isNews || age > TimeUnit.MICROSECONDS.toNanos(before.micros)) {
            longest = new Lease(longestLease, now);
        }
    }

    /** Each slot has a salt of its own, which changes the lower half of the epoch. */
    private static boolean areOfOneServer(long one, long other) {
        return one >>> SALT_BITS == other >>> SALT_BITS;
    }

    /**
     * An answer of this epoch has arrived. Called for each answer, so that nothing is written if nothing has changed.
     */
    void received(long epoch, String node, int slot) {
        Long before = bySlot.get(slot);
        if (before == null || before != epoch) {
            bySlot.put(slot, epoch);
        }
        Known known = byNode.get(node);
        if (slot != NO_SLOT && (known == null || !areOfOneServer(known.epoch, epoch))) {
            byNode.put(node, new Known(epoch, ticker.getAsLong()));
        }
    }
}
