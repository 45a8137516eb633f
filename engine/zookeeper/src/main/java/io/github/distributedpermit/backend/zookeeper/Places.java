package io.github.distributedpermit.backend.zookeeper;

import java.util.Map;
import java.util.TreeMap;

/**
 * Turns the age of a waiter into its place in line, which is the version of the key when the waiter came: the order of
 * the ensemble, not of clocks. Guarded by the lock of its key.
 */
final class Places {

    private static final int MOST = 64;

    /** Versions of the key by when this process came to know of them. */
    private final TreeMap<Long, Long> known = new TreeMap<>();

    /**
     * The place of a waiter: the first version heard of since it came.
     *
     * @param fresh its place if none was
     */
    long since(long arrival, long fresh) {
        Map.Entry<Long, Long> first = known.ceilingEntry(arrival);
        return first == null ? fresh : Math.min(first.getValue(), fresh);
    }

    /**
     * A claim for waiters is recorded in the store.
     *
     * @param arrival of the oldest of them; nobody will ask for an earlier place
     */
    void recorded(long arrival, long now, long version) {
        known.headMap(arrival).clear();
        known.put(now, version);
        if (known.size() > MOST) {
            thinOut();
        }
    }

    /** A waiter between two that stay is placed by the later one. */
    private void thinOut() {
        boolean[] drop = {false};
        Long last = known.lastKey();
        Long first = known.firstKey();
        known.keySet().removeIf(time -> {
            drop[0] = !drop[0] && !time.equals(first) && !time.equals(last);
            return drop[0];
        });
    }
}
