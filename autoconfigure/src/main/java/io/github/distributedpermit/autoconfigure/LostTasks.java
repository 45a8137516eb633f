package io.github.distributedpermit.autoconfigure;

import java.lang.ref.Cleaner;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Finds tasks that the application's executor took and will never run: its policy discards tasks silently, or what a
 * {@code TaskDecorator} puts around them throws before it runs them. Each continues a call that may have got a permit, which
 * would stay in use for ever. Such a task is one that no object refers to any more although it has not run, so it is found
 * when the garbage collector has run, and never while it waits in the executor. Thread-safe.
 */
final class LostTasks {

    private static final Log log = LogFactory.getLog(LostTasks.class);

    private final Cleaner cleaner = Cleaner.create();
    private final Executor instead;

    /** Runs what is lost on this executor. */
    LostTasks(Executor instead) {
        this.instead = instead;
    }

    /** What to give to the application's executor in the place of the task. */
    Runnable watch(Runnable task) {
        Due due = new Due(task, instead);
        Watched watched = new Watched(due);
        watched.registration = cleaner.register(watched, due::lost);
        return watched;
    }

    /** Must not be referred to by {@link Due}. */
    private static final class Watched implements Runnable {

        private final Due due;
        private Cleaner.@Nullable Cleanable registration;

        Watched(Due due) {
            this.due = due;
        }

        @Override
        public void run() {
            due.run();
            if (registration != null) {
                registration.clean();
            }
        }
    }

    /** A task that runs once. */
    private static final class Due {

        private final AtomicReference<@Nullable Runnable> task;
        private final Executor instead;

        Due(Runnable task, Executor instead) {
            this.task = new AtomicReference<>(task);
            this.instead = instead;
        }

        void run() {
            Runnable due = task.getAndSet(null);
            if (due != null) {
                due.run();
            }
        }

        void lost() {
            if (task.get() == null) {
                return;
            }
            log.error(
                    "The application's executor dropped the continuation of a call for a permit without running it. It"
                            + " runs on a thread of the library instead, so that its permit is not lost. Give the executor a"
                            + " rejection policy that does not discard tasks, and a TaskDecorator that always runs them, or"
                            + " define a bean distributedPermitExecutor for continuations");
            try {
                instead.execute(this::run);
            } catch (RejectedExecutionException e) {
                run(); // after the end of the library
            }
        }
    }
}
