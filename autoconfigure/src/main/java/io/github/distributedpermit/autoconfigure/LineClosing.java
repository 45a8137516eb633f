package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.PermitEngine;
import org.springframework.context.SmartLifecycle;

/**
 * First step of the shutdown, before the web server drains its requests: calls in line are told at once, so that they do
 * not hold the drain up; calls that hold permits go on.
 */
final class LineClosing implements SmartLifecycle {

    private final PermitEngine engine;
    private volatile boolean running;

    LineClosing(PermitEngine engine) {
        this.engine = engine;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        engine.shutdown();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** The engine cannot be started again after a pause. */
    @Override
    public boolean isPauseable() {
        return false;
    }

    /** Stops first. */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE;
    }
}
