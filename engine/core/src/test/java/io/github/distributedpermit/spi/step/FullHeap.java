package io.github.distributedpermit.spi.step;

import java.util.concurrent.atomic.AtomicBoolean;

/** Cuts a step of a table short. */
public final class FullHeap {

    private FullHeap() {}

    /** The next step that changes the queue of the table ends with an error in the middle. */
    public static void strike(KeyTable table) {
        AtomicBoolean due = new AtomicBoolean();
        table.records.order((a, b) -> {
            if (due.compareAndSet(true, false)) {
                throw new OutOfMemoryError("planted");
            }
            return Records.BY_MEMBER.compare(a, b);
        });
        due.set(true);
    }
}
