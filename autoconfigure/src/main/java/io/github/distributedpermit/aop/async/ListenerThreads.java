package io.github.distributedpermit.aop.async;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The threads of consumers whose messages wait for their permits and are not rejected. Thread-safe. */
public final class ListenerThreads {

    private final ThreadLocal<@Nullable ListenerConsumer> consumers = new ThreadLocal<>();

    /**
     * A consumer begins on this thread. Its container pauses at a {@link PermitPendingException}.
     *
     * @param idle the pause of the container between two polls
     */
    public void begin(Duration idle) {
        consumers.set(new ListenerPermits(idle));
    }

    /** What this thread's messages wait for; {@code null} if its container does not pause. */
    public @Nullable ListenerPermits pausing() {
        return current() instanceof ListenerPermits permits ? permits : null;
    }

    /** The consumer, or its message, ends: nothing is asked for any more. */
    public void end() {
        ListenerPermits ended = pausing();
        consumers.remove();
        if (ended != null) {
            ended.cancelAll();
        }
    }

    /**
     * A message is delivered on this thread, which waits for its permit, since its container cannot pause.
     *
     * @param open whether the message is this consumer's; when it is no more, a listener that waits fails with
     *     {@link PermitPendingException}
     */
    public void beginWaiting(BooleanSupplier open) {
        consumers.set(new WaitingConsumer(open));
    }

    @Nullable
    ListenerConsumer current() {
        return consumers.get();
    }
}
