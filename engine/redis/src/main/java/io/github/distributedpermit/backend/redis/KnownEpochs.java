package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Holding;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The epoch of the last answer of each node. The first claim of a key carries that of its node, so that a server without data
 * notices that a member remembers some, although not of this key. Thread-safe.
 */
final class KnownEpochs {

    private final ConcurrentMap<String, Long> byNode = new ConcurrentHashMap<>();

    /** The epoch that the claim carries to this node. */
    long epochFor(ClaimCall call, String node) {
        long own = call.claim.epoch();
        return own != 0 ? own : byNode.getOrDefault(node, 0L);
    }

    /** An answer of this node has arrived. */
    void received(Holding answer, String node) {
        Long epoch = answer.epoch();
        if (epoch != 0 && !epoch.equals(byNode.get(node))) {
            byNode.put(node, epoch);
        }
    }
}
