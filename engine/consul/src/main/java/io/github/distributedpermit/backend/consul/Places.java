package io.github.distributedpermit.backend.consul;

import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Where in the line of a key a waiter stands that came at some time of this process: the Raft index of the member's
 * first change after that. A waiter older than what is remembered gets the earliest place that is. Confined.
 */
final class Places {

    private static final int MAX_REMEMBERED = 256;

    private final NavigableMap<Long, Long> indexByTime = new TreeMap<>();

    /**
     * The place of a waiter.
     *
     * @param arrived by the monotonic clock
     * @param index as of which it stands in line, if the member has not been there yet since
     */
    long place(long arrived, long index) {
        Map.Entry<Long, Long> next = indexByTime.ceilingEntry(arrived);
        return next == null ? index : next.getValue();
    }

    /** The member stood in line as of this index. */
    void remember(long now, long index) {
        indexByTime.put(now, index);
        if (indexByTime.size() > MAX_REMEMBERED) {
            thinOut();
        }
    }

    /** Every second one goes; a waiter that came between two gets the later place. */
    private void thinOut() {
        boolean goes = false;
        for (Iterator<Long> each = indexByTime.keySet().iterator(); each.hasNext(); ) {
            each.next();
            if (goes) {
                each.remove();
            }
            goes = !goes;
        }
    }

    void forget() {
        indexByTime.clear();
    }
}
