package io.github.distributedpermit.spi.snapshot;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs the events of one {@link KeyWorker} one after the other, on whichever thread brings them: no lock is held and no
 * thread is woken while they run, so that an event may call the core, which may call back. An event that an event of the
 * same worker causes runs after it. What one event has written, the next one sees, also on another thread. Thread-safe.
 *
 * <p>Each {@link KeyWorker} has one. A thread that brings an event while another one runs the mailbox does not wait,
 * so that the thread of a store's client is never blocked by a key.
 */
final class Mailbox implements Executor {

    private static final System.Logger LOG = System.getLogger(Mailbox.class.getName());

    private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    /** Events that have not ended. The thread that raises the number from zero runs all events until it is zero again. */
    private final AtomicInteger pending = new AtomicInteger();

    @Override
    public void execute(Runnable event) {
        // Added before it is counted: the running thread takes an event only after it was counted, so that it always
        // finds one.
        events.add(event);
        if (pending.getAndIncrement() > 0) {
            return;
        }
        do {
            run(events.remove());
        } while (pending.decrementAndGet() > 0);
    }

    /** Logs within a catch behind which all has to go on: a logger that fails, or has no stack or heap left, must not end it. */
    static void log(System.Logger log, System.Logger.Level level, String what, Throwable reason) {
        try {
            log.log(level, what, reason);
        } catch (RuntimeException | Error withoutLog) {
            // nothing is left to say it with
        }
    }

    /** Runs an event, or a part of one, so that what comes after it runs in any case. */
    static void run(Runnable event) {
        try {
            event.run();
        } catch (RuntimeException | Error e) {
            log(LOG, System.Logger.Level.ERROR, "An event of a key failed. The key goes on with the next event", e);
        }
    }
}
