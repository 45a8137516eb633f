package io.github.distributedpermit.aop.async;

import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import org.jspecify.annotations.Nullable;

/** Loaded only where Micrometer's context propagation is on the class path. */
final class MicrometerContext {

    private static final ContextSnapshotFactory FACTORY =
            ContextSnapshotFactory.builder().build();

    private MicrometerContext() {}

    static Runnable capture(Runnable task, @Nullable Object context) {
        ContextSnapshot snapshot = context == null ? FACTORY.captureAll() : FACTORY.captureAll(context);
        return snapshot.wrap(task);
    }
}
