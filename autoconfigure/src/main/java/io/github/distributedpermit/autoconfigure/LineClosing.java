package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.PermitEngine;

/**
 * First step of the shutdown, before the web server drains its requests: calls in line are told at once, so that they do
 * not hold the drain up; calls that hold permits go on.
 */
final class LineClosing extends OneLife {

    private final PermitEngine engine;

    LineClosing(PermitEngine engine) {
        this.engine = engine;
    }

    @Override
    void end() {
        engine.shutdown();
    }

    /** Stops first. */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE;
    }
}
