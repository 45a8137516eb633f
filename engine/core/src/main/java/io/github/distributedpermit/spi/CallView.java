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
 * @param onThread whether the thread that made it certainly is within the call now, so that its stack is one of the call. Otherwise it
 *     may do something else: of a permit that code took itself, or an asynchronous one
 */
public record CallView(
        String name, String key, int permits, State state, Duration age, Optional<Caller> caller, boolean onThread) {

    /** What a call does. */
    public enum State {
        /** It runs without its permits, which other calls may have. */
        LOST,
        /** It runs with them. */
        HOLDING,
        /** It has none yet. */
        WAITING
    }

    /** Whether it is in that state. */
    public boolean is(State which) {
        return state == which;
    }
}
