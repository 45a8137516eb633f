package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread of a call when one of its permits is lost, never after the call has ended. An interrupt that the call
 * has not reacted to is cleared at its end. A thread does not notify of its reaction, so the flag is looked at after pauses
 * that double from 1 to 256 ms, on the JDK's thread for delayed executions: a flag that is set after it was seen cleared is
 * an interrupt by another party. Thread-safe; made and ended by the thread of the call.
 */
final class InterruptOnLoss {

    private static final int LONGEST_PAUSE = 256;

    private final Later later;

    /** {@code null} when the call has ended. */
    private @Nullable Thread thread = Thread.currentThread();

    /** The permit whose loss has interrupted the thread. */
    private @Nullable Permit lost;

    /** Whether the flag of the thread was set here, and has not been seen cleared since. */
    private boolean pending;

    /** For a call of the current thread. */
    InterruptOnLoss() {
        this((task, millis) -> CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS, Runnable::run)
                .execute(task));
    }

    InterruptOnLoss(Later later) {
        this.later = later;
    }

    /** Interrupts when this permit is lost. */
    void follow(Permit permit) {
        permit.onLoss(() -> lost(permit));
    }

    private synchronized void lost(Permit permit) {
        if (thread != null && lost == null && !thread.isInterrupted()) { // a flag that is set belongs to another party
            lost = permit;
            thread.interrupt();
            pending = true;
            lookAfter(1);
        }
    }

    private void lookAfter(int pause) {
        later.run(() -> look(Math.min(LONGEST_PAUSE, pause * 2)), pause);
    }

    private synchronized void look(int pause) {
        if (thread != null && pending) {
            pending = thread.isInterrupted();
            if (pending) {
                lookAfter(pause);
            }
        }
    }

    /** Runs a task after a pause. */
    @FunctionalInterface
    interface Later {

        void run(Runnable task, int millis);
    }

    /** The lost permit, if its loss has interrupted the call. Called when the call has reacted to an interrupt. */
    synchronized @Nullable Permit reacted() {
        pending = false;
        return lost;
    }

    /** The call has ended: an interrupt that it did not react to is not for what the thread does next. */
    synchronized void end() {
        thread = null;
        if (pending) {
            pending = false;
            Thread.interrupted();
        }
    }
}
