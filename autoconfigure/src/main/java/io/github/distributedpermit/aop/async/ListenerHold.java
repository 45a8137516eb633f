package io.github.distributedpermit.aop.async;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * For listeners of messages that are done when they return: their messages wait for permits for as long as it takes. On the
 * thread of a container that can pause, the message waits instead of the thread.
 */
public final class ListenerHold implements HoldStrategy {

    private static final Log log = LogFactory.getLog(ListenerHold.class);

    private final ListenerThreads threads;
    private final String otherwise;
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * On these threads messages wait.
     *
     * @param otherwise which containers have other threads, and what follows
     */
    public ListenerHold(ListenerThreads threads, String otherwise) {
        this.threads = threads;
        this.otherwise = otherwise;
    }

    @Override
    public @Nullable Object invoke(LimitedCall call) throws Throwable {
        ListenerConsumer consumer = threads.current();
        if (consumer != null && !consumer.isWorking()) {
            return consumer.invoke(call);
        }
        if (consumer == null && warned.compareAndSet(false, true)) {
            log.warn(call.description() + " " + otherwise);
        }
        return call.whileHolding(held -> call.proceed(), fallback -> fallback);
    }

    @Override
    public boolean endsWithinTheCaller() {
        return true;
    }
}
