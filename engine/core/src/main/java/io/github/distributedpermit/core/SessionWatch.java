package io.github.distributedpermit.core;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Until when the member's session may be relied on, measured from before its last confirmed renewal was sent. A store
 * with leases has none, and the watch never ends. Thread-safe.
 */
final class SessionWatch {

    private static final long NEVER = Long.MIN_VALUE;

    private final Lines lines;
    /** The store may be quicker than the constructor of the lines. */
    private long confirmedEarly = NEVER;

    private long validity;
    private Scheduler.@Nullable Timer timer;
    private volatile long aliveUntil = Long.MAX_VALUE;
    private boolean ended;

    SessionWatch(Lines lines) {
        this.lines = lines;
    }

    synchronized void begin(Duration session) {
        long length = session.toNanos();
        validity = length - length / Policy.MARGIN;
        aliveUntil = 0;
        if (confirmedEarly != NEVER) {
            alive(confirmedEarly);
        }
    }

    long aliveUntil() {
        return aliveUntil;
    }

    synchronized void alive(long sentAt) {
        if (validity == 0) {
            confirmedEarly = sentAt;
            return;
        }
        aliveUntil = Math.max(aliveUntil, sentAt + validity);
        if (timer == null && !ended) {
            arm();
        }
    }

    private void arm() {
        timer = lines.scheduler().schedule(this::fired, Math.max(0, aliveUntil - lines.now()));
    }

    private void fired() {
        synchronized (this) {
            timer = null;
            if (ended) {
                return;
            }
            if (lines.now() < aliveUntil) {
                arm();
                return;
            }
        }
        lines.each(KeyLine::check);
    }

    synchronized void lost() {
        aliveUntil = Math.min(aliveUntil, lines.now());
    }

    synchronized void end() {
        ended = true;
        if (timer != null) {
            timer.cancel();
        }
    }
}
