package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.PermitOperations;
import io.github.distributedpermit.core.engine.PermitEngine;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;

/**
 * Lets changed limits and settings apply to the annotated methods of this context, also if it has its permits from a parent
 * context, which may outlive it.
 */
final class AnnotationsOnChange implements DisposableBean {

    private final Runnable end;

    AnnotationsOnChange(@Nullable PermitEngine engine, PermitOperations operations) {
        this.end = engine == null ? () -> {} : engine.onChange(operations::settingsChanged);
    }

    @Override
    public void destroy() {
        end.run();
    }
}
