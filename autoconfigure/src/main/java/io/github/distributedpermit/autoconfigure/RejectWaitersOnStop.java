package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.engine.PermitEngine;
import org.jspecify.annotations.Nullable;

/**
 * First step of the shutdown, before the web server drains its requests: waiting calls are rejected at once, so that they do
 * not hold the drain up; calls that hold permits go on.
 */
final class RejectWaitersOnStop extends ContextLifecycle {

    private final @Nullable PermitEngine engine;

    RejectWaitersOnStop(@Nullable PermitEngine engine) {
        this.engine = engine;
    }

    @Override
    void end() {
        if (engine != null) {
            engine.shutdown();
        }
    }

    /** Stops first. */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE;
    }
}
