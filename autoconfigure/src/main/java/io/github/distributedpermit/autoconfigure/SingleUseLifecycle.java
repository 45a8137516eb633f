package io.github.distributedpermit.autoconfigure;

import org.springframework.context.SmartLifecycle;

/**
 * A step of the application's life that is not taken twice: who has left the store stays away, and would reject every
 * call of a context that is stopped and started again.
 */
abstract class SingleUseLifecycle implements SmartLifecycle {

    private volatile boolean running;
    private volatile boolean over;

    @Override
    public final void start() {
        if (over) {
            throw new IllegalStateException(
                    "Permits cannot be started again: with the stop of its context this instance has"
                            + " left the store. Close the context and start a new context instead of stop() and start(), or use"
                            + " pause() and restart(), which leave permits alone");
        }
        begin();
        running = true;
    }

    @Override
    public final void stop() {
        over = true;
        running = false;
        end();
    }

    /** May fail the start. */
    void begin() {}

    abstract void end();

    @Override
    public final boolean isRunning() {
        return running;
    }

    /** A pause would be the end. */
    @Override
    public final boolean isPauseable() {
        return false;
    }
}
