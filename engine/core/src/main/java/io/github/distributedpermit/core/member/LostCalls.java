package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.key.Grant;
import io.github.distributedpermit.core.key.KeyQueueVisitor;
import io.github.distributedpermit.spi.CallView;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The calls that have lost their permits and have not ended, of all keys: queues may be retired while such calls run. For operators.
 * Thread-safe.
 */
final class LostCalls {

    private final Map<Grant, Long> lostAt = new ConcurrentHashMap<>();

    /** The call has lost its permits. */
    void lost(Grant grant, long now) {
        lostAt.put(grant, now);
    }

    /** A call has ended, which may have lost its permits. */
    void ended(Grant grant) {
        if (!lostAt.isEmpty()) {
            lostAt.remove(grant);
        }
    }

    /** A loss may be noted behind the end of its call. */
    private Set<Map.Entry<Grant, Long>> running() {
        lostAt.keySet().removeIf(Grant::isReleased);
        return lostAt.entrySet();
    }

    /** Adds the calls of a key, in the order of their losses, until the list has so many. */
    void describe(String key, long now, int most, List<CallView> views) {
        running().stream()
                .filter(call -> call.getKey().key().equals(key))
                .sorted(Map.Entry.comparingByValue())
                .limit(Math.max(0, most - views.size()))
                .forEach(call -> views.add(call.getKey().viewLost(call.getValue(), now)));
    }

    /** Adds the keys of the calls of this name. */
    void keys(String name, Set<String> keys) {
        running().stream()
                .map(Map.Entry::getKey)
                .filter(grant -> grant.name().equals(name))
                .forEach(grant -> keys.add(grant.key()));
    }

    /** For gauges. */
    void survey(KeyQueueVisitor visitor) {
        running().forEach(call -> visitor.lost(call.getKey().stats));
    }
}
