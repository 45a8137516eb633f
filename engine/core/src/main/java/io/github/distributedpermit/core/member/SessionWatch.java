package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.Times;
import io.github.distributedpermit.core.key.Policy;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Until when the member's session is certain to live, measured from the time at which its last confirmed renewal was sent.
 * When that time passes without another confirmation, the watch has all queues look at the clock. A store with leases has
 * no session, and the time is never. Thread-safe; {@link #aliveUntil()} is read without a lock by every event.
 */
final class SessionWatch {

    private static final long UNCONFIRMED = Long.MIN_VALUE;

    private final Scheduler scheduler;
    private final LongSupplier clock;
    private final Runnable expired;

    /** A confirmation that came before {@link #begin}: the store may be quicker than the engine's constructor. */
    private long confirmedEarly = UNCONFIRMED;

    private long validity;
    private Scheduler.@Nullable Timer timer;
    private volatile long aliveUntil = Times.NEVER;
    private boolean ended;

    /**
     * A watch without a session.
     *
     * @param clock the time of the process
     * @param expired called when the session was not confirmed in time
     */
    SessionWatch(Scheduler scheduler, LongSupplier clock, Runnable expired) {
        this.scheduler = scheduler;
        this.clock = clock;
        this.expired = expired;
    }

    /** The store keeps its members by sessions of this length. Nothing may be held until the first confirmation. */
    synchronized void begin(Duration session) {
        long length = session.toNanos();
        validity = length - length / Policy.MARGIN;
        aliveUntil = 0;
        if (confirmedEarly != UNCONFIRMED) {
            alive(confirmedEarly);
        }
    }

    /** Until when the session is certain to live; {@link Times#NEVER} if there is none. */
    long aliveUntil() {
        return aliveUntil;
    }

    /** A renewal that was sent at this time was confirmed. */
    synchronized void alive(long sentAt) {
        if (validity == 0) {
            confirmedEarly = sentAt;
            return;
        }
        aliveUntil = Math.max(aliveUntil, sentAt + validity);
        // a timer that is set already fires too early and is then set again, which costs less than moving it each time
        if (timer == null && !ended) {
            arm();
        }
    }

    private void arm() {
        timer = scheduler.schedule(this::fired, Math.max(0, aliveUntil - clock.getAsLong()));
    }

    private void fired() {
        synchronized (this) {
            timer = null;
            if (ended) {
                return;
            }
            if (clock.getAsLong() < aliveUntil) {
                arm();
                return;
            }
        }
        expired.run();
    }

    /** The store has ended the session. The first confirmation of the next one moves the time on again. */
    synchronized void lost() {
        aliveUntil = Math.min(aliveUntil, clock.getAsLong());
    }

    /** The member has left. */
    synchronized void end() {
        ended = true;
        if (timer != null) {
            timer.cancel();
        }
    }
}
