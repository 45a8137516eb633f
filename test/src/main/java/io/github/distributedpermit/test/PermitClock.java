package io.github.distributedpermit.test;

import io.github.distributedpermit.spi.TimeSource;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The clock of a test. It stands still until the test moves it; then the time-outs, leases and minimum holds of permits that
 * have come due end, in their order. See {@link AutoConfigureDistributedPermit#movableClock()}. Thread-safe.
 *
 * <pre>{@code
 * Future<?> call = executor.submit(service::export);                    // waits with timeout = "30s"
 * await().untilAsserted(() -> assertThat(permits).hasWaiting(1));
 * clock.advance(Duration.ofSeconds(30));
 * assertThatThrownBy(call::get).hasCauseInstanceOf(PermitRejectedException.class);
 * }</pre>
 *
 * <p>What waits on other threads learns of the new time at once, but goes on in its own time: a test has to wait for the
 * effect that it expects. A call that a test lets wait without moving the clock waits for ever.
 */
public final class PermitClock implements TimeSource {

    /** Not zero, so that a field that was not set is not taken for a time. */
    private static final long BEGIN = TimeUnit.HOURS.toNanos(1);

    private final PriorityQueue<Task> tasks =
            new PriorityQueue<>(Comparator.comparingLong(Task::due).thenComparingLong(Task::number));

    /** The threads that have read the clock since it was moved. They may be parked until a time that has come now. */
    private final Set<Thread> readers = Collections.newSetFromMap(new WeakHashMap<>());

    private final ReentrantLock moving = new ReentrantLock();
    private long now = BEGIN;
    private long scheduled;

    /** Creates a clock that stands still. */
    public PermitClock() {
        // see the fields
    }

    /**
     * Moves the time forward, through all times at which something is due. Returns when the timers that were due have run.
     *
     * @throws IllegalArgumentException if the duration is negative
     */
    public void advance(Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException("The clock of permits cannot go back by " + duration);
        }
        moving.lock();
        try {
            long until = nanosAfter(duration);
            for (Task due = next(until); due != null; due = next(until)) {
                due.work().run();
            }
        } finally {
            moving.unlock();
        }
    }

    private synchronized long nanosAfter(Duration duration) {
        return now + TimeUnit.NANOSECONDS.convert(duration);
    }

    /** Moves to the next task and returns it, or to the end if none is due before. */
    private @Nullable Task next(long until) {
        List<Thread> waiting;
        Task due = null;
        synchronized (this) {
            Task first = tasks.peek();
            if (first != null && first.due() <= until) {
                due = tasks.poll();
                now = Math.max(now, first.due());
            } else {
                now = until;
            }
            waiting = List.copyOf(readers);
            readers.clear();
        }
        // a thread that parks only after this has a permit to go on, and reads the new time
        waiting.forEach(LockSupport::unpark);
        return due;
    }

    /** The time of this clock, in nanoseconds since an arbitrary origin. */
    @Override
    public synchronized long nanoTime() {
        readers.add(Thread.currentThread());
        return now;
    }

    @Override
    public Runnable schedule(Runnable task, long delayNanos) {
        if (delayNanos <= 0) {
            return SYSTEM.schedule(task, 0); // due already, and the clock may never be moved
        }
        synchronized (this) {
            Task entry = new Task(now + delayNanos, scheduled++, task);
            tasks.add(entry);
            return () -> cancel(entry);
        }
    }

    private synchronized void cancel(Task task) {
        tasks.remove(task);
    }

    private record Task(long due, long number, Runnable work) {}
}
