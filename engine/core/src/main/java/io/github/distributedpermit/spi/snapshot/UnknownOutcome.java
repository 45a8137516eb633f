package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.snapshot.KeyRequest.ClaimRequest;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The last claim of a key, if it failed and may have taken effect all the same. Confined to its {@link KeyWorker}.
 *
 * <p>A failed claim may have taken permits that the core was not granted. If the core sends no other claim, these
 * permits would stay recorded for the member without a use. The worker therefore repeats the claim, and reports what
 * it was granted.
 */
final class UnknownOutcome {

    /**
     * The claim is repeated after this time, unless the core sends another. As long as the default command time-out,
     * after which the core sends a claim of its own if any call still needs one.
     */
    private static final long REPEATED_AFTER_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** The claim to repeat; {@code null} if there is none. */
    private @Nullable ClaimRequest claim;
    /**
     * A change that was sent may yet take effect. While it is set, a claim that repeats its record is written all the
     * same, so that the commit orders it behind the earlier one.
     */
    private boolean unknown;

    /**
     * A later failure replaces the claim: the newest one states what the member wants.
     *
     * @param failed the claim to repeat; {@code null} if its session is not in use any more
     */
    void failed(@Nullable ClaimRequest failed) {
        claim = failed == null ? null : failed.withoutCaller();
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

    /**
     * The change may still be under way, so that its outcome stays unknown; but the claim belongs to a session that
     * is over.
     */
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
    ClaimRequest due(long now, long failedAt) {
        return now - failedAt >= REPEATED_AFTER_NANOS ? claim : null;
    }
}
