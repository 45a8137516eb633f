package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitDefinition;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Numbers of one name, or of all names that one pattern of the settings gives a limit: the observer reads the latter, so that
 * the number of meters does not grow with names made at run time. Thread-safe.
 */
public final class NameCounts {

    private final String name;
    final AtomicInteger holders = new AtomicInteger();
    final AtomicInteger withoutStore = new AtomicInteger();
    private final AtomicInteger waiters = new AtomicInteger();
    private volatile int limit;

    /** The counts of a name or a pattern, with its configured limit. */
    public NameCounts(String name, int limit) {
        this.name = name;
        this.limit = limit;
    }

    /** The limit of a key that is in effect. Written only if it changes, because it is read by other threads. */
    void limitIs(int value) {
        if (limit != value) {
            limit = value;
        }
    }

    /** The configured limit has changed. While an operator's limit is in effect, only the end of all limits replaces it. */
    public void changeLimit(int before, int after) {
        if (limit == before || after == PermitDefinition.UNLIMITED) {
            limitIs(after);
        }
    }

    /** A call waits. */
    public void arrived() {
        waiters.incrementAndGet();
    }

    /** A call no longer waits. */
    public void left() {
        waiters.decrementAndGet();
    }

    /** The name or the pattern. */
    public String name() {
        return name;
    }

    /** Permits that calls of this process hold. */
    public int holders() {
        return holders.get();
    }

    /** Those of them that calls have because the store did not answer, and that it has not recorded since. */
    public int withoutStore() {
        return withoutStore.get();
    }

    /** Calls of this process that wait. */
    public int waiters() {
        return waiters.get();
    }

    /** The limit of a key that is in effect. */
    public int limit() {
        return limit;
    }
}
