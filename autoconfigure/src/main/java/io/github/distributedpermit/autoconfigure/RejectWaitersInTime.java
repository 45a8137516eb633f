package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.engine.PermitEngine;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Rejects the calls that still wait for permits shortly before the web server gives up draining, so that their requests are
 * answered, and not cut off when it stops. If it has drained earlier, the step of the next phase comes first.
 */
final class RejectWaitersInTime extends ContextLifecycle {

    private final PermitEngine engine;
    private final Scheduler scheduler;
    private final Duration drain;
    /** Only threads that start or stop the context use it, which Spring does one after the other. */
    private Scheduler.@Nullable Timer scheduled;

    /** @param drain how long Spring waits for the web server */
    RejectWaitersInTime(PermitEngine engine, Scheduler scheduler, Duration drain) {
        this.engine = engine;
        this.scheduler = scheduler;
        this.drain = drain;
    }

    /** A context that is started again admits calls. */
    @Override
    void begin() {
        Scheduler.Timer timer = scheduled;
        if (timer != null) {
            timer.cancel();
        }
    }

    @Override
    void end() {
        scheduled = scheduler.schedule(
                engine::shutdown, drain.minus(drain.dividedBy(10)).toNanos());
    }

    /** That in which Boot's web server drains. */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE - 1024;
    }
}
