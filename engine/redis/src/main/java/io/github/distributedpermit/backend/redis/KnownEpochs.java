package io.github.distributedpermit.backend.redis;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.LongSupplier;

/**
 * The epochs of the last answers. The first claim of a key carries the one that the member knows, so that a server without data
 * notices that a member remembers some, although not of this key. In a cluster each slot has a lineage of its own, so epochs are
 * kept for each slot, and for each node to tell a slot that was never used from one whose data were lost. Thread-safe.
 *
 * <p>{@link ClaimPipeline} asks it when a batch is packed, and reports each answer. The rules by which a server
 * compares epochs are in lineage.lua.
 */
final class KnownEpochs {

    /** The slot of a server that is in no cluster. */
    static final int NO_SLOT = -1;

    /** The lower bits of an epoch are different in each lineage of one server. */
    private static final int SALT_BITS = 16;

    /** Outside a cluster it has one entry. */
    private final ConcurrentMap<Integer, Long> bySlot = new ConcurrentHashMap<>();
    /** By the id of the node, in a cluster only. */
    private final ConcurrentMap<String, Known> byNode = new ConcurrentHashMap<>();

    private final LongSupplier ticker;

    KnownEpochs(LongSupplier ticker) {
        this.ticker = ticker;
    }

    /**
     * @param epoch of the first answer of the node since it changed
     * @param since when that answer arrived, on the monotonic clock in nanoseconds
     */
    private record Known(long epoch, long since) {}

    /**
     * The epoch that the claim carries; with {@link ClaimCodec#OF_NODE} if the member knows it of other slots of the node, for a
     * lease at least. The node has lost nothing since then if it still has this epoch.
     *
     * @return 0 if nothing is remembered, by which a server without data is taken for a new one
     */
    long epochFor(ClaimCall call, String node, int slot) {
        long own = call.claim.epoch();
        if (own != 0) {
            return own;
        }
        Long ofSlot = bySlot.get(slot);
        if (ofSlot != null) {
            return ofSlot;
        }
        Known known = byNode.get(node);
        boolean old = known != null
                && ticker.getAsLong() - known.since >= call.claim.lease().toNanos();
        return known != null && old ? known.epoch | ClaimCodec.OF_NODE : 0;
    }

    /**
     * The epoch of the last answer of a server that is in no cluster; 0 if there was none. Names the epoch under
     * which a former master is closed.
     */
    long epoch() {
        return bySlot.getOrDefault(NO_SLOT, 0L);
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
