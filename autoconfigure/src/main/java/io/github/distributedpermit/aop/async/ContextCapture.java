package io.github.distributedpermit.aop.async;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.TaskDecorator;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Carries the context of a calling thread to the thread that goes on after the wait: with Micrometer's context propagation
 * where the application has it, and with the application's {@link TaskDecorator} beans. Thread-safe.
 */
public final class ContextCapture {

    private static final boolean MICROMETER =
            ClassUtils.isPresent("io.micrometer.context.ContextSnapshotFactory", ContextCapture.class.getClassLoader());

    private final Supplier<List<TaskDecorator>> decorators;

    /**
     * Captures with these decorators.
     *
     * @param decorators the innermost first, as in the executors of Spring Boot; asked for at the first call that waits
     */
    public ContextCapture(Supplier<List<TaskDecorator>> decorators) {
        this.decorators = SingletonSupplier.of(decorators);
    }

    /**
     * Wraps a task, on the thread whose context it is to have.
     *
     * @param context a Reactor context, whose values precede those of the thread
     */
    Runnable capture(Runnable task, @Nullable Object context) {
        Runnable wrapped = MICROMETER ? MicrometerContext.capture(task, context) : task;
        for (TaskDecorator decorator : decorators.get()) {
            wrapped = decorator.decorate(wrapped);
        }
        return wrapped;
    }

    /**
     * Takes permits with the values of a Reactor context in the thread, because observers read the current observation from
     * the thread. The decorators are not applied, since they are for the work of the method.
     */
    static <T> T within(@Nullable Object context, Supplier<T> task) {
        return MICROMETER && context != null ? MicrometerContext.within(context, task) : task.get();
    }

    /** Wraps a task that takes further permits, on the thread whose values it is to have. The decorators are not applied. */
    public static Runnable ofThread(Runnable task) {
        return MICROMETER ? MicrometerContext.ofThread(task) : task;
    }
}
