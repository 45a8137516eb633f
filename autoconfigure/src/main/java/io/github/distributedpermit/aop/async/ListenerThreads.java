package io.github.distributedpermit.aop.async;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The threads of consumers whose container can pause while a message waits for its permit. Thread-safe. */
public final class ListenerThreads {

    private final ThreadLocal<@Nullable ListenerPermits> permits = new ThreadLocal<>();

    /**
     * A consumer begins on this thread. Its container pauses at a {@link PermitPendingException}.
     *
     * @param idle the pause of the container between two polls
     */
    public void begin(Duration idle) {
        permits.set(new ListenerPermits(idle));
    }

    /** What this thread's messages wait for; {@code null} if its container does not pause. */
    public @Nullable ListenerPermits current() {
        return permits.get();
    }

    /** The consumer ends: nothing is asked for any more. */
    public void end() {
        ListenerPermits ended = permits.get();
        permits.remove();
        if (ended != null) {
            ended.cancelAll();
        }
    }
}
