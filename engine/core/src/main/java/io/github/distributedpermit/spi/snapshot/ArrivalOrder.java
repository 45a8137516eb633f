package io.github.distributedpermit.spi.snapshot;

import java.util.Map;
import java.util.TreeMap;

/**
 * Turns the age of a waiter into its position in the queue of a key, which is the version of the key when the waiter came:
 * the order of the store, not of clocks. A claim may be sent long after its waiter came, since claims of a key are sent one at
 * a time. The version at that time would put the waiter behind members that came after it. Confined to its
 * {@link KeyWorker}.
 *
 * <p>A {@link CommitAttempt} asks for the position before it computes a step; the worker records the version of each
 * answered claim that queued. The order decides only who is served first. An entry that is missing or too late costs
 * a waiter a later position, and never a permit.
 */
final class ArrivalOrder {

    /** The table keeps at most this many entries, so that a waiter that waits for hours does not let it grow. */
    private static final int MOST = 64;

    /**
     * Versions of the key by when this process received them. The key of an entry is a time of the monotonic clock in
     * nanoseconds, and its value the position that a waiter got which arrived at that time.
     */
    private final TreeMap<Long, Long> versions = new TreeMap<>();

    /**
     * The position of a waiter: the first version received since it came. A waiter that has arrived never gets a
     * later position than one that arrives now.
     *
     * @param arrival on the monotonic clock
     * @param fresh its position if none was received
     */
    long since(long arrival, long fresh) {
        Map.Entry<Long, Long> first = versions.ceilingEntry(arrival);
        return first == null ? fresh : Math.min(first.getValue(), fresh);
    }

    /**
     * A claim for waiters is recorded in the store.
     *
     * @param arrival of the oldest of them; no earlier position will be looked up
     * @param version what a waiter that came now would have got
     * @param now when the claim was answered, on the monotonic clock
     */
    void recorded(long arrival, long now, long version) {
        versions.headMap(arrival).clear();
        versions.put(now, version);
        if (versions.size() > MOST) {
            thinOut();
        }
    }

    /**
     * Removes every second entry, because entries are only added as long as the oldest waiter is the same one. A waiter
     * between two that stay gets the position of the later one, so that it never overtakes a member that came before it.
     */
    private void thinOut() {
        boolean[] drop = {false};
        // The first entry gives the oldest waiter its position, and the last one is the most exact for waiters that
        // have just come.
        Long last = versions.lastKey();
        Long first = versions.firstKey();
        versions.keySet().removeIf(time -> {
            drop[0] = !drop[0] && !time.equals(first) && !time.equals(last);
            return drop[0];
        });
    }

    /** Versions of an earlier session may be those of another history of the store. */
    void clear() {
        versions.clear();
    }
}
