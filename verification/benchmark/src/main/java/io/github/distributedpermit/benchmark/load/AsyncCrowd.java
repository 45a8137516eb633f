package io.github.distributedpermit.benchmark.load;

import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Asynchronous calls in a closed loop: each asks, holds for a while, gives back and asks again, and none has a thread. Counts who
 * is inside, as the {@link Board} does. Confined to the thread that runs it.
 */
public final class AsyncCrowd {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Gate gate;
    private final int limit;
    private final long hold;
    private final long from;
    private final long until;
    private final ConcurrentLinkedQueue<Long> waits = new ConcurrentLinkedQueue<>();
    private final AtomicLongArray openSince;
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger violations = new AtomicInteger();
    private final CountDownLatch ended;
    private final ScheduledExecutorService clock = new ScheduledThreadPoolExecutor(1);
    private final AtomicInteger failed = new AtomicInteger();

    private AsyncCrowd(Gate gate, int calls, int limit, Duration hold, Duration settle, Duration length) {
        this.gate = gate;
        this.limit = limit;
        this.hold = hold.toNanos();
        this.from = System.nanoTime() + settle.toNanos();
        this.until = from + length.toNanos();
        this.openSince = new AtomicLongArray(calls);
        this.ended = new CountDownLatch(calls);
    }

    /**
     * What the calls of a time came to.
     *
     * @param longestByMean longest wait by mean wait; waits that are open at the end count with what they have waited
     * @param perSecond grants
     * @param failed calls that ended with an exception and asked again
     * @param violations calls that entered while as many as allowed were inside
     */
    public record Result(double longestByMean, double perSecond, long failed, long violations) {}

    /**
     * Runs them, and returns when the last has ended.
     *
     * @param settle waits that began within it do not count: at the beginning all ask at once
     */
    public static Result run(Gate gate, int calls, int limit, Duration hold, Duration settle, Duration length)
            throws Exception {
        AsyncCrowd crowd = new AsyncCrowd(gate, calls, limit, hold, settle, length);
        try {
            for (int i = 0; i < calls; i++) {
                crowd.ask(i);
            }
            if (!crowd.ended.await(settle.plus(length).plus(PATIENCE).toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException(crowd.ended.getCount() + " calls do not end");
            }
        } finally {
            crowd.clock.shutdownNow();
        }
        return crowd.result(length);
    }

    private void ask(int call) {
        long asked = System.nanoTime();
        if (asked >= until) {
            ended.countDown();
            return;
        }
        openSince.set(call, asked);
        gate.enterLater().whenComplete((pass, refused) -> {
            if (refused != null) {
                failed.incrementAndGet();
                openSince.set(call, 0);
                clock.schedule(() -> ask(call), hold, TimeUnit.NANOSECONDS);
            } else {
                entered(call, asked, pass);
            }
        });
    }

    private void entered(int call, long asked, Object pass) {
        long now = System.nanoTime();
        if (inside.incrementAndGet() > limit) {
            violations.incrementAndGet();
        }
        if (asked >= from) {
            waits.add(Math.min(now, until) - asked);
        }
        openSince.set(call, 0);
        clock.schedule(() -> leave(call, pass), hold, TimeUnit.NANOSECONDS);
    }

    private void leave(int call, Object pass) {
        inside.decrementAndGet();
        gate.leaveLater(pass);
        ask(call);
    }

    private Result result(Duration length) {
        for (int call = 0; call < openSince.length(); call++) {
            long asked = openSince.get(call);
            if (asked >= from && asked < until) {
                waits.add(until - asked);
            }
        }
        long longest = waits.stream().mapToLong(Long::longValue).max().orElse(0);
        double mean = waits.stream().mapToLong(Long::longValue).average().orElse(Double.NaN);
        return new Result(longest / mean, waits.size() / (length.toNanos() / 1e9), failed.get(), violations.get());
    }
}
