package io.github.distributedpermit.harness.member;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Does things to calls after a moment. */
final class Interrupter implements AutoCloseable {

    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "interrupter");
        thread.setDaemon(true);
        return thread;
    });

    void start() {
        executor.prestartAllCoreThreads();
    }

    /** Runs it later, unless the attempt has ended by then. */
    Attempt later(Runnable task, int micros) {
        Attempt attempt = new Attempt(task);
        executor.schedule(attempt::run, micros, TimeUnit.MICROSECONDS);
        return attempt;
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }

    /** Once. */
    static final class Attempt {

        private final Runnable task;
        private boolean over;

        private Attempt(Runnable task) {
            this.task = task;
        }

        private synchronized void run() {
            if (!over) {
                over = true;
                task.run();
            }
        }

        /** Afterwards nothing will happen any more. */
        synchronized void end() {
            over = true;
        }
    }
}
