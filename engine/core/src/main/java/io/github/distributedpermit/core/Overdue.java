package io.github.distributedpermit.core;

import java.time.Duration;
import java.util.Optional;

/** Claims and timers that have been due for so long that calls cannot rely on them, whatever the cause. */
final class Overdue {

    /** After so many command time-outs a claim is stuck: by then it has been repeated. */
    private static final int PATIENCE = 3;

    private Overdue() {}

    /** What is overdue, for health; names no key. */
    static Optional<String> among(Lines lines, Duration commandTimeout) {
        long now = lines.now();
        long longest = PATIENCE * commandTimeout.toNanos();
        long oldest = LineState.NEVER;
        int overdue = 0;
        for (KeyLine line : lines) {
            long since = line.dueSince();
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
