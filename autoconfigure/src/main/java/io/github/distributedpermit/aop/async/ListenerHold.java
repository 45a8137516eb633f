package io.github.distributedpermit.aop.async;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * For listeners of messages that are done when they return: on the thread of a container that can pause, the message waits
 * instead of the thread. Elsewhere the calling thread waits.
 */
public final class ListenerHold implements HoldStrategy {

    private static final Log log = LogFactory.getLog(ListenerHold.class);

    private final ListenerThreads threads;
    private final AtomicBoolean warned = new AtomicBoolean();

    /** On these threads a message waits. */
    public ListenerHold(ListenerThreads threads) {
        this.threads = threads;
    }

    @Override
    public @Nullable Object invoke(LimitedCall call) throws Throwable {
        ListenerPermits permits = threads.current();
        if (permits != null && permits.isWorking()) {
            return call.whileHolding(held -> call.proceed(), fallback -> fallback);
        }
        if (permits != null) {
            return permits.invoke(call);
        }
        if (warned.compareAndSet(false, true)) {
            log.warn(("%s is called by no container that can pause, such as one with transactions, one whose consumer"
                            + " commits by itself (enable-auto-commit), or one that was registered after the start: it waits for its permits on the thread of its consumer, which loses its"
                            + " partitions after max.poll.interval.ms")
                    .formatted(call.description()));
        }
        return call.whileHolding(held -> call.proceed(), fallback -> fallback);
    }

    @Override
    public boolean endsWithinTheCaller() {
        return true;
    }
}
