package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Claim;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The last claim of a channel, if it failed and may have taken effect all the same. Guarded by the lock of the channel.
 */
final class UnknownOutcome {

    /** The claim is repeated after this time, unless the core sends another. */
    private static final long REPEATED_AFTER_NANOS = TimeUnit.SECONDS.toNanos(2);

    private @Nullable Claim claim;
    private boolean unknown;

    /** @param sameSession whether the claim may be repeated: the session in which it was sent is still in use */
    void failed(Claim failed, boolean sameSession) {
        claim = sameSession ? failed : null;
        unknown = true;
    }

    /** A claim was answered; no transaction sent before can take effect after it. */
    void answered() {
        claim = null;
        unknown = false;
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
