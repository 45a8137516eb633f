package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitRejectedException;
import java.time.Duration;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** How one consumer calls limited listeners for its messages, of which none is lost for want of a permit. Confined to its thread. */
abstract class ListenerConsumer {

    private static final Log log = LogFactory.getLog(ListenerConsumer.class);

    /** When a message asks again that was rejected, or after a failure of the store. */
    static final Duration AGAIN = Duration.ofSeconds(1);
    /** Between two warnings of a message that may wait for ever. */
    private static final Duration WARNING = Duration.ofMinutes(1);

    private boolean working;
    private long nextWarning = System.nanoTime();

    /** Whether a message is being processed: what its listener calls is no message. */
    boolean isWorking() {
        return working;
    }

    /** Calls the listener for a message. */
    abstract @Nullable Object invoke(LimitedCall call) throws Throwable;

    /** Calls the listener with its permits. */
    final @Nullable Object process(LimitedCall call, Acquisition acquisition, PermitGroup group) throws Throwable {
        PermitBundle permits = acquisition.held().apply(group);
        working = true;
        try {
            return permits.begin(call::proceed);
        } finally {
            working = false;
            permits.release();
        }
    }

    /** Of what does not end by waiting. */
    final void warn(LimitedCall call, Exception failure) {
        boolean lasts = failure instanceof PermitRejectedException rejected
                && (rejected.reason() == PermitRejectedException.Reason.ABOVE_LIMIT
                        || rejected.reason() == PermitRejectedException.Reason.TOO_MANY_KEYS);
        long now = System.nanoTime();
        if (lasts && now - nextWarning >= 0) {
            nextWarning = now + WARNING.toNanos();
            log.warn("A message of %s holds up its consumer, and asks again each second, until this ends: %s"
                    .formatted(call.description(), failure.getMessage()));
        }
    }
}
