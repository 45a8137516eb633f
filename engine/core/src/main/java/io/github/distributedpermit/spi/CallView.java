package io.github.distributedpermit.spi;

import java.time.Duration;
import java.util.Optional;

/**
 * One call of this process that holds permits, has lost them, or waits for some, for operators. Immutable.
 *
 * @param name of the permit
 * @param key what is limited
 * @param permits how many permits it holds, has lost or wants
 * @param state which of these
 * @param age for how long it has been in that state
 * @param caller who made it; empty if that is not recorded
 * @param place where it is, seen from the thread that made it
 */
public record CallView(
        String name, String key, int permits, State state, Duration age, Optional<Caller> caller, Place place) {

    /** What a call does. */
    public enum State {
        /** It runs without its permits, which other calls may have. */
        LOST,
        /** It runs with them. */
        HOLDING,
        /** It has none yet. */
        WAITING
    }

    /** Whether the thread that made a call is within it. */
    public enum Place {
        /** It certainly is now, so that its stack is one of the call. */
        ON_THREAD,
        /** The call is asynchronous: the thread went on, and whatever that does now, it has no stack of the call. */
        ELSEWHERE,
        /** That is not known: code has the permit, or a future that outlives its method, so the thread may do something else by now. */
        UNKNOWN
    }

    /** Whether it is in that state. */
    public boolean is(State which) {
        return state == which;
    }
}
