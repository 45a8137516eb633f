package io.github.distributedpermit.backend.redis;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A circuit breaker for each node that accepts commands and answers none: a cancelled command stays in the queue of Lettuce
 * until the connection is replaced. After {@value #MAX_UNANSWERED} unanswered commands in a row, only one command in a second
 * is sent to the node. Outside a cluster there is one node, with an empty name. Thread-safe.
 */
final class UnresponsiveNodes {

    /** Bounds the commands that Lettuce keeps for a node that answers none. */
    static final int MAX_UNANSWERED = 1_000;
    /** Between two commands to a node that does not answer. */
    private static final long BETWEEN_TRIES = TimeUnit.SECONDS.toNanos(1);

    /** Only nodes with unanswered commands have an entry. */
    private final ConcurrentMap<String, Node> nodes = new ConcurrentHashMap<>();

    private final LongSupplier ticker;

    UnresponsiveNodes(LongSupplier ticker) {
        this.ticker = ticker;
    }

    /**
     * Whether one more command may be sent to the node. One thread wins the comparison and sends its command; the
     * commands of the others fail at once.
     */
    boolean admits(String node) {
        Node known = nodes.get(node);
        if (known == null || known.unanswered.get() < MAX_UNANSWERED) {
            return true;
        }
        long now = ticker.getAsLong();
        long last = known.lastTry.get();
        return now - last >= BETWEEN_TRIES && known.lastTry.compareAndSet(last, now);
    }

    /** A command ended without an answer. */
    void unanswered(String node) {
        nodes.computeIfAbsent(node, n -> new Node(new AtomicInteger(), new AtomicLong(ticker.getAsLong())))
                .unanswered
                .incrementAndGet();
    }

    /** Whether a node has not answered so many commands in a row. */
    boolean isAnyUnresponsive(int commands) {
        return nodes.values().stream().anyMatch(node -> node.unanswered.get() >= commands);
    }

    /** The connection was replaced. */
    void forgetAll() {
        nodes.clear();
    }

    /** The node answered a command. Any answer shows that the node responds, so that the count starts anew. */
    void answered(String node) {
        if (!nodes.isEmpty()) {
            nodes.remove(node);
        }
    }

    /**
     * How many commands in a row a node has not answered, and when one of them was let through last. The time is in
     * nanoseconds of the monotonic clock.
     */
    private record Node(AtomicInteger unanswered, AtomicLong lastTry) {}
}
