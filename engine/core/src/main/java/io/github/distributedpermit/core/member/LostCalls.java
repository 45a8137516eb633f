package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.key.Grant;
import io.github.distributedpermit.core.key.KeyQueueVisitor;
import io.github.distributedpermit.spi.CallView;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * The calls that have lost their permits and have not ended, of all keys: queues may be retired while such calls run. For operators.
 * A permit that nothing refers to any more is forgotten, so that code which drops lost permits costs no memory. Thread-safe.
 */
final class LostCalls {

    private final Map<Grant, Long> lostAt = new WeakHashMap<>();

    /** Whether there may be some: saves a lock for each call that ends. */
    private volatile boolean any;

    /** The call has lost its permits. */
    synchronized void lost(Grant grant, long now) {
        lostAt.put(grant, now);
        any = true;
    }

    /** A call has ended, which may have lost its permits. */
    void ended(Grant grant) {
        if (any) {
            remove(grant);
        }
    }

    private synchronized void remove(Grant grant) {
        lostAt.remove(grant);
        any = !lostAt.isEmpty();
    }

    /** Those that run: a loss may be noted behind the end of its call. */
    private synchronized Map<Grant, Long> running() {
        lostAt.keySet().removeIf(Grant::isReleased);
        return new HashMap<>(lostAt); // refers to them while they are looked at
    }

    /** Adds the calls of a key, in the order of their losses, until the list has so many. */
    void describe(String key, long now, int most, List<CallView> views) {
        running().entrySet().stream()
                .filter(call -> call.getKey().key().equals(key))
                .sorted(Map.Entry.comparingByValue())
                .limit(Math.max(0, most - views.size()))
                .forEach(call -> views.add(call.getKey().viewLost(call.getValue(), now)));
    }

    /** Adds the keys of the calls of this name. */
    void keys(String name, Set<String> keys) {
        running().keySet().stream().filter(grant -> grant.name().equals(name)).forEach(grant -> keys.add(grant.key()));
    }

    /** For gauges. */
    void survey(KeyQueueVisitor visitor) {
        running().keySet().forEach(grant -> visitor.lost(grant.permit));
    }
}
