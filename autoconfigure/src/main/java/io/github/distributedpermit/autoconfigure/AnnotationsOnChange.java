package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.PermitOperations;
import io.github.distributedpermit.core.engine.PermitEngine;
import java.util.List;
import org.springframework.beans.factory.DisposableBean;

/**
 * Lets changed limits and settings apply to the annotated methods of this context, which may refuse them, also if it has its
 * permits from a parent context, which may outlive it.
 */
final class AnnotationsOnChange implements DisposableBean {

    private final List<Runnable> ends;

    AnnotationsOnChange(PermitEngine engine, PermitOperations operations) {
        this.ends = List.of(engine.beforeChange(operations::check), engine.onChange(operations::settingsChanged));
    }

    @Override
    public void destroy() {
        ends.forEach(Runnable::run);
    }
}
