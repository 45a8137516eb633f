package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Claim;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The last claim of a key, if it failed and may have taken effect all the same. Confined to its {@link KeyWorker}. */
final class UnknownOutcome {

    /** The claim is repeated after this time, unless the core sends another. */
    private static final long REPEATED_AFTER_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** The claim to repeat; {@code null} if there is none. */
    private @Nullable Claim claim;
    /** A change that was sent may yet take effect. */
    private boolean unknown;

    /** @param failed the claim to repeat; {@code null} if its session is not in use any more */
    void failed(@Nullable Claim failed) {
        claim = failed;
        unknown = true;
    }

    /**
     * A claim was answered, so that the failed one need not be repeated.
     *
     * @param certain whether no change sent before can take effect any more
     */
    void answered(boolean certain) {
        claim = null;
        unknown = unknown && !certain;
    }

    void sessionLost() {
        claim = null;
    }

    /** Whether no claim is left to repeat. */
    boolean isSettled() {
        return claim == null;
    }

    /** Whether the outcome of each claim before is known. */
    boolean isNone() {
        return !unknown;
    }

    /** The claim to repeat now, {@code null} if there is none. */
    @Nullable
    Claim due(long now, long failedAt) {
        return now - failedAt >= REPEATED_AFTER_NANOS ? claim : null;
    }
}
