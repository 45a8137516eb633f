package io.github.distributedpermit.autoconfigure;

import org.springframework.context.SmartLifecycle;

/**
 * A step of the application's life. The context may be stopped and started again, as around a checkpoint of the process
 * (CRaC): permits are then those of another member of the store.
 */
abstract class ContextLifecycle implements SmartLifecycle {

    private volatile boolean running;

    /** A step in this phase. */
    static ContextLifecycle of(int phase, Runnable begin, Runnable end) {
        return new ContextLifecycle() {

            @Override
            void begin() {
                begin.run();
            }

            @Override
            void end() {
                end.run();
            }

            @Override
            public int getPhase() {
                return phase;
            }
        };
    }

    @Override
    public final void start() {
        begin();
        running = true;
    }

    @Override
    public final void stop() {
        running = false;
        end();
    }

    /** May fail the start. */
    void begin() {}

    abstract void end();

    /** The stop has begun: a start that comes before it has ended is a start. */
    final void stopping() {
        running = false;
    }

    @Override
    public final boolean isRunning() {
        return running;
    }

    /** Calls go on in a context that pauses. */
    @Override
    public final boolean isPauseable() {
        return false;
    }
}
