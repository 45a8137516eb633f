package io.github.distributedpermit.spi;

import io.github.distributedpermit.PermitRequest;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What this instance knows of one permit name now. Cheap to read from any thread. */
public interface PermitGauges {

    /** The name, as in settings. */
    String name();

    /** Permits that calls of this instance hold, over all keys of the name. */
    int holders();

    /** Those of them that calls got because the store did not answer, and that it has not recorded since. */
    default int withoutStore() {
        return 0;
    }

    /** Calls of this instance that wait, over all keys of the name. */
    int waiters();

    /** Calls of this instance that run although their permits were lost, over all keys of the name. May be a second old. */
    default int runningLost() {
        return 0;
    }

    /** Groups of which calls of this instance wait, over all keys of the name, see {@link PermitRequest#fairBy}. May be a second old. */
    default int fairGroups() {
        return 0;
    }

    /** The limit of a key: the operator's override as of the last answer of the store, else the configured limit. */
    int limit();

    /** The call of this instance that has been waiting for the longest; empty if none waits. May be a second old. */
    default Optional<LongestCall> longestWait() {
        return Optional.empty();
    }

    /** The call of this instance that has held its permits for the longest; empty if none does. May be a second old. */
    default Optional<LongestCall> longestHold() {
        return Optional.empty();
    }

    /**
     * For how long each call of this instance that holds permits has held them at least; empty if none does. If calls wait meanwhile, the
     * permits hang, or their work takes as long. May be a second old.
     */
    default Optional<Duration> shortestHold() {
        return Optional.empty();
    }

    /**
     * The call that has been at it for the longest.
     *
     * @param key of its permit, as the user gave it
     * @param time for how long by now
     * @param inner of a call that waits: the name that it has a permit of already, which lies within this one; {@code null} if there
     *     is none
     */
    record LongestCall(String key, Duration time, @Nullable String inner) {}
}
