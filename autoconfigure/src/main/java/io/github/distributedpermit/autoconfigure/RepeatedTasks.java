package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.Scheduler;
import java.time.Duration;
import java.util.List;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** Runs short tasks from the start of the context to its stop, each with its own pause in between. Thread-safe. */
final class RepeatedTasks extends ContextLifecycle {

    private static final Log log = LogFactory.getLog(RepeatedTasks.class);

    /** How often the scheduler is asked for the next run of a task. */
    private static final int ATTEMPTS = 3;

    private final Scheduler scheduler;
    private final List<Repeated> tasks;
    private volatile boolean ended;

    RepeatedTasks(Scheduler scheduler, List<Task> tasks) {
        this.scheduler = scheduler;
        this.tasks = tasks.stream().map(Repeated::new).toList();
    }

    /** A task, and the time between the ends of two runs. */
    record Task(Duration pause, Runnable action) {}

    @Override
    void begin() {
        ended = false;
        tasks.forEach(Repeated::arm);
    }

    @Override
    void end() {
        ended = true;
        tasks.forEach(Repeated::cancel);
    }

    @Override
    public int getPhase() {
        return StoreMembership.PHASE + 1; // begins after the store was joined, and ends before it is left
    }

    private final class Repeated {

        private final Task task;
        private Scheduler.@Nullable Timer timer;

        /** Whether there is no next run, because the scheduler failed. */
        private boolean unscheduled;

        Repeated(Task task) {
            this.task = task;
        }

        private synchronized void arm() {
            if (!ended) {
                timer = scheduler.schedule(this::run, task.pause().toNanos());
            }
        }

        private void run() {
            try {
                task.action().run();
            } catch (Throwable e) { // The scheduler would keep an Error to itself.
                log.warn(
                        "A periodic task of distributed-permit failed; it runs again in %d ms"
                                .formatted(task.pause().toMillis()),
                        e);
            } finally {
                armAgain();
                tasks.forEach(Repeated::repair);
            }
        }

        /** Schedules the next run, also if the scheduler fails, for example because memory is short. */
        private synchronized void armAgain() {
            unscheduled = true;
            for (int attempt = 1; unscheduled; attempt++) {
                try {
                    arm();
                    unscheduled = false;
                } catch (Throwable e) {
                    if (attempt == ATTEMPTS) {
                        log.warn(
                                "A periodic task of distributed-permit could not be scheduled again. The next run of"
                                        + " another task tries that; if there is none, restart the application.",
                                e);
                        return;
                    }
                }
            }
        }

        private synchronized void repair() {
            if (unscheduled) {
                armAgain();
            }
        }

        private synchronized void cancel() {
            if (timer != null) {
                timer.cancel();
            }
        }
    }
}
