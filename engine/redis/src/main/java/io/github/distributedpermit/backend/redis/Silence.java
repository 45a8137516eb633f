package io.github.distributedpermit.backend.redis;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Bounds what piles up in the client for a node that takes commands and answers none: a command given up stays in
 * Lettuce's queue until the connection moves on. After so many unanswered in a row only one in a second goes out.
 * Thread-safe.
 */
final class Silence {

    static final int MAX_UNANSWERED = 1_000;
    private static final long PROBE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ConcurrentMap<String, Node> nodes = new ConcurrentHashMap<>();
    private final LongSupplier ticker;

    Silence(LongSupplier ticker) {
        this.ticker = ticker;
    }

    long now() {
        return ticker.getAsLong();
    }

    /** Whether one more command may go out to the node. */
    boolean admits(String node) {
        Node known = nodes.get(node);
        if (known == null || known.unanswered.get() < MAX_UNANSWERED) {
            return true;
        }
        long now = ticker.getAsLong();
        long last = known.lastProbe.get();
        return now - last >= PROBE_NANOS && known.lastProbe.compareAndSet(last, now);
    }

    /** A command was given up without an answer. */
    void unanswered(String node) {
        nodes.computeIfAbsent(node, n -> new Node(new AtomicInteger(), new AtomicLong(ticker.getAsLong())))
                .unanswered
                .incrementAndGet();
    }

    /** Whether a node has left so many commands unanswered, in a row. */
    boolean isSilent(int commands) {
        return nodes.values().stream().anyMatch(node -> node.unanswered.get() >= commands);
    }

    /** The connection is another one, of which nothing is known. */
    void clear() {
        nodes.clear();
    }

    /** The node has answered something. */
    void answered(String node) {
        if (!nodes.isEmpty()) {
            nodes.remove(node);
        }
    }

    private record Node(AtomicInteger unanswered, AtomicLong lastProbe) {}
}
