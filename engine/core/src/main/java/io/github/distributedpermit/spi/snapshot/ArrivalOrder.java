package io.github.distributedpermit.spi.snapshot;

import java.util.Map;
import java.util.TreeMap;

/**
 * Turns the age of a waiter into its position in the queue of a key, which is the version of the key when the waiter came:
 * the order of the store, not of clocks. A claim may be sent long after its waiter came, since claims of a key are sent one at
 * a time. The version at that time would put the waiter behind members that came after it. Confined to its
 * {@link KeyWorker}.
 */
final class ArrivalOrder {

    private static final int MOST = 64;

    /** Versions of the key by when this process received them. */
    private final TreeMap<Long, Long> versions = new TreeMap<>();

    /**
     * The position of a waiter: the first version received since it came.
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
