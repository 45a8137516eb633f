package io.github.distributedpermit.core;

/**
 * The clock as the events of one key read it. A timer that is much overdue shows that the process stood still, whichever
 * event is the first to look. Guarded by the lock of the line.
 */
final class ProcessClock {

    /** A timer that is late by this part of the command time-out is no longer merely late. */
    private static final int STANDSTILL = 20;

    private final LineHost host;
    private final LineTimer timer;
    private final LineState state;

    ProcessClock(LineHost host, LineTimer timer, LineState state) {
        this.host = host;
        this.timer = timer;
        this.state = state;
    }

    /** The time of the host, after a standstill has been made allowance for. */
    long now() {
        long now = host.now();
        long late = timer.lateBy(now);
        if (late > state.policy().commandTimeout() / STANDSTILL) {
            timer.excuse(now);
            state.contact.stoodStill(late, now);
        }
        return now;
    }
}
