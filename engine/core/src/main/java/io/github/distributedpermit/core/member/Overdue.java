package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.key.KeyQueue;
import io.github.distributedpermit.core.key.Times;
import java.time.Duration;
import java.util.Optional;

/**
 * Finds claims and timers that have been due for so long that calls cannot rely on them, whatever the cause: a store that
 * does not answer, a client that is stuck, a scheduler without a thread. For health. Stateless.
 */
public final class Overdue {

    /** A claim that is unanswered after so many command time-outs is stuck: by then it has been repeated. */
    private static final int PATIENCE = 3;

    private Overdue() {}

    /** What is overdue, for health; names no key. */
    public static Optional<String> among(KeyRegistry registry, Duration commandTimeout) {
        long now = registry.now();
        long longest = PATIENCE * commandTimeout.toNanos();
        long oldest = Times.NEVER;
        int overdue = 0;
        for (KeyQueue queue : registry) {
            long since = queue.dueSince();
            if (since < now - longest) {
                overdue++;
                oldest = Math.min(oldest, since);
            }
        }
        return overdue == 0
                ? Optional.empty()
                : Optional.of("no answer to claims of %d key(s) for up to %d ms"
                        .formatted(overdue, (now - oldest) / 1_000_000));
    }
}
