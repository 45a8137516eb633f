package io.github.distributedpermit.core;

/** Runs short tasks later. Passed in, so that tests control time. Thread-safe; its tasks never block. */
public interface Scheduler {

    /** Runs the task once after the delay, on any thread but the calling one. */
    Timer schedule(Runnable task, long delayNanos);

    /** A task that has been scheduled. */
    interface Timer {

        /** Takes the task back, if it has not begun. */
        void cancel();
    }
}
