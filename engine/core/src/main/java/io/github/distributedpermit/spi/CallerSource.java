package io.github.distributedpermit.spi;

import org.jspecify.annotations.Nullable;

/** Finds out who makes a call. Called for each call by its own thread, so it must be quick and must not throw. */
@FunctionalInterface
public interface CallerSource {

    /** Records nothing. */
    CallerSource NONE = method -> null;

    /**
     * Who makes the present call; {@code null} if that is not to be recorded.
     *
     * @param method that makes it, if that is known
     */
    @Nullable
    Caller current(@Nullable String method);
}
