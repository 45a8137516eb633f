package io.github.distributedpermit.aop;

import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread of a call when one of its permits is lost, never after the call has ended. Thread-safe; made and
 * ended by the thread of the call.
 */
final class InterruptOnLoss implements Runnable {

    /** {@code null} when the call has ended or has been interrupted. */
    private @Nullable Thread thread = Thread.currentThread();

    private boolean interrupted;

    @Override
    public synchronized void run() {
        if (thread != null) {
            thread.interrupt();
            thread = null;
            interrupted = true;
        }
    }

    /** The call has ended: an interrupt that it did not react to is not for what the thread does next. */
    synchronized void end() {
        thread = null;
        if (interrupted) {
            interrupted = false;
            Thread.interrupted();
        }
    }
}
