package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.engine.PermitEngine;

/**
 * Rejects the calls that still wait when the web server has drained its requests. Until then calls are served as before: requests,
 * messages and jobs that the application has accepted may need more permits. Calls that hold permits go on, and later ones
 * get a permit if one is free.
 */
final class RejectWaitersOnStop extends ContextLifecycle {

    private final PermitEngine engine;

    RejectWaitersOnStop(PermitEngine engine) {
        this.engine = engine;
    }

    @Override
    void end() {
        engine.shutdown();
    }

    /**
     * Between Boot's two steps for a web server: at {@code DEFAULT_PHASE - 1024} it waits for its requests, also for those whose calls wait
     * for permits, and 1024 below that it stops, also if not all have ended. Schedulers, executors and the containers of message
     * listeners stop before both.
     */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE - 1024 - 512;
    }
}
