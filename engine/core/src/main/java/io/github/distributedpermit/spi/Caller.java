package io.github.distributedpermit.spi;

import io.github.distributedpermit.Permit;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Who made a call, for operators. Immutable.
 *
 * @param call a number of the call that no other call of this process has
 * @param method the class and the method that the permit limits or that asked for it, if that is known
 * @param thread that made the call; it may do something else by now if the call did not block it
 * @param traceId of the trace that the call belongs to, if there is one
 * @param atWork whether that thread is within the work of a permit now, see {@link io.github.distributedpermit.PermitContext#ofThread}
 */
public record Caller(
        long call, Optional<String> method, Thread thread, Optional<String> traceId, Predicate<Permit> atWork) {

    /** The name of the thread; its number if it has none, as virtual threads. */
    public String threadName() {
        return thread.getName().isEmpty() ? "#" + thread.getId() : thread.getName();
    }
}
