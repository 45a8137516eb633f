package io.github.distributedpermit.benchmark.load;

import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What the calls of a crowd waited for, and how many were inside at once: as the {@link Board}, for more calls than have a seat
 * there, and without the waits of the beginning, when all ask at once. Thread-safe.
 */
final class CrowdWaits {

    private final int limit;
    private final long from;
    private final long until;
    private final Duration length;
    private final ConcurrentLinkedQueue<Long> waits = new ConcurrentLinkedQueue<>();
    private final AtomicLongArray openSince;
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger violations = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();

    /** Begins the time to settle. */
    CrowdWaits(int calls, int limit, Duration settle, Duration length) {
        this.limit = limit;
        this.from = System.nanoTime() + settle.toNanos();
        this.until = from + length.toNanos();
        this.length = length;
        this.openSince = new AtomicLongArray(calls);
    }

    /** Whether no call may begin any more. */
    boolean isOver(long now) {
        return now >= until;
    }

    void asked(int call, long now) {
        openSince.set(call, now);
    }

    void refused(int call) {
        failed.incrementAndGet();
        openSince.set(call, 0);
    }

    void entered(int call) {
        long now = System.nanoTime();
        if (inside.incrementAndGet() > limit) {
            violations.incrementAndGet();
        }
        long asked = openSince.getAndSet(call, 0);
        if (asked >= from) {
            waits.add(Math.min(now, until) - asked);
        }
    }

    /** The call is about to return its permit. */
    void leaving() {
        inside.decrementAndGet();
    }

    CrowdResult result() {
        for (int call = 0; call < openSince.length(); call++) {
            long asked = openSince.get(call);
            if (asked >= from && asked < until) {
                waits.add(until - asked);
            }
        }
        long[] sorted = waits.stream().mapToLong(Long::longValue).sorted().toArray();
        return CrowdResult.of(sorted, length, failed.get(), violations.get());
    }
}
