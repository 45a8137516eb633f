package io.github.distributedpermit.aop.async;

import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshot.Scope;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** Loaded only where Micrometer's context propagation is on the class path. */
final class MicrometerContext {

    private static final Log log = LogFactory.getLog(MicrometerContext.class);

    private static final ContextSnapshotFactory FACTORY =
            ContextSnapshotFactory.builder().build();

    private MicrometerContext() {}

    static Runnable capture(Runnable task, @Nullable Object context) {
        ContextSnapshot snapshot = context == null ? FACTORY.captureAll() : FACTORY.captureAll(context);
        return snapshot.wrap(task);
    }

    /** Runs a task with the values of a Reactor context as thread-local values. */
    static <T> T within(Object context, Supplier<T> task) {
        return within(() -> FACTORY.setThreadLocalsFrom(context), task);
    }

    /** Wraps a task, which then has the thread-local values of the thread that calls this method. */
    static Runnable ofThread(Runnable task) {
        ContextSnapshot snapshot;
        try {
            snapshot = FACTORY.captureAll();
        } catch (RuntimeException | LinkageError e) {
            debug(e);
            return task;
        }
        return () -> within(snapshot::setThreadLocals, () -> {
            task.run();
            return true;
        });
    }

    /**
     * The task runs once, whatever an accessor of the application throws: permits would be lost otherwise, and a missing
     * context only affects what is observed.
     */
    private static <T> T within(Supplier<Scope> opening, Supplier<T> task) {
        Scope scope = null;
        try {
            scope = opening.get();
        } catch (RuntimeException | LinkageError e) {
            debug(e);
        }
        try {
            return task.get();
        } finally {
            close(scope);
        }
    }

    private static void close(@Nullable Scope scope) {
        try {
            if (scope != null) {
                scope.close();
            }
        } catch (RuntimeException | LinkageError e) {
            debug(e);
        }
    }

    private static void debug(Throwable failure) {
        log.debug("The context of a call cannot be restored while it takes its permits", failure);
    }
}
