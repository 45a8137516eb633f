package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.key.Grant;
import io.github.distributedpermit.core.key.LogSafe;
import io.github.distributedpermit.spi.PermitStoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Logs what operators have to know: that the store stops or resumes answering, that it may have lost state, and lost permits, with
 * at most one line each ten seconds for each of the last two. Also counts the lost permits. Thread-safe.
 */
final class StoreLog {

    private static final Logger LOG = System.getLogger(StoreLog.class.getName());
    private static final long INTERVAL = TimeUnit.SECONDS.toNanos(10);

    private final String store;
    private final AtomicLong lost = new AtomicLong();
    private final AtomicLong unlogged = new AtomicLong();
    private final AtomicLong nextLine = new AtomicLong(Long.MIN_VALUE);
    private final AtomicLong graces = new AtomicLong();
    private final AtomicLong nextGrace = new AtomicLong(Long.MIN_VALUE);

    /**
     * A log for one store.
     *
     * @param address host and port of the store; empty if it has none
     */
    StoreLog(String backend, String address) {
        store = address.isEmpty() ? "'" + backend + "'" : "'" + backend + "' at " + LogSafe.escape(address);
    }

    /** The store, for messages. */
    String store() {
        return store;
    }

    /** No claim has been answered for this many nanoseconds. */
    void fails(Throwable cause, long nanos) {
        LOG.log(
                Level.INFO,
                "The store of permits {0} has not answered for {1} ms ({2}). Claims are repeated; calls that wait longer than"
                        + " distributed-permit.store-timeout fail.",
                store,
                millis(nanos),
                problem(cause));
    }

    /** The store answers again after this many nanoseconds. */
    void answers(long nanos) {
        LOG.log(Level.INFO, "The store of permits {0} answers again after {1} ms.", store, millis(nanos));
    }

    /** A call has lost its permits. */
    void lost(Grant grant, long now) {
        lost.addAndGet(grant.weight);
        long due = nextLine.get();
        if (now < due || !nextLine.compareAndSet(due, now + INTERVAL)) {
            unlogged.addAndGet(grant.weight);
            return;
        }
        LOG.log(
                Level.WARNING,
                "A call lost {0} permit(s) of ''{1}'', key ''{2}'': the store has not confirmed it for a lease, or has deleted its"
                        + " record, or this instance has left the store. Other calls may hold the permit now. The listeners of the permit run; its isHeld() returns"
                        + " false. {3} other permit(s) were lost since the last such line.",
                Integer.toString(grant.weight),
                LogSafe.escape(grant.name()),
                LogSafe.escape(grant.key()),
                Long.toString(unlogged.getAndSet(0)));
    }

    /** A key is in grace, see {@code KeyQueueHost#graceBegins}. */
    void graceBegins(String key, boolean moved, long lasts, long now) {
        long due = nextGrace.get();
        if (now < due || !nextGrace.compareAndSet(due, now + INTERVAL)) {
            graces.incrementAndGet();
            return;
        }
        LOG.log(
                Level.WARNING,
                "The store of permits {0} may have lost state: {1}. For up to {2} ms, or the longest lease of another instance, it"
                        + " grants permits of key ''{3}'' only to those who still hold them; calls that do not wait fail"
                        + " meanwhile. {4} other key(s) were in the same state since the last such line.",
                store,
                moved
                        ? "another server answers, or the same one after a restart or after FLUSHALL"
                        : "it has no data of permits that may be held, for example after FLUSHALL",
                millis(lasts),
                LogSafe.escape(key),
                Long.toString(graces.getAndSet(0)));
    }

    /** How many permits were lost. */
    long lostPermits() {
        return lost.get();
    }

    /** What failed, without the wrapper of a stage. */
    static Throwable cause(@Nullable Throwable failure) {
        return failure == null
                ? PermitStoreException.passing("no answer", null)
                : PermitStoreException.causeOf(failure);
    }

    private static String millis(long nanos) {
        return Long.toString(TimeUnit.NANOSECONDS.toMillis(nanos));
    }

    /** Only the messages of our own exceptions are known to have no secrets. */
    private static String problem(Throwable cause) {
        String message = cause.getMessage();
        return cause instanceof PermitStoreException && message != null
                ? LogSafe.escape(message)
                : cause.getClass().getSimpleName();
    }
}
