package io.github.distributedpermit.harness.check;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a history has to keep to.
 *
 * @param limit how many may hold a key at once
 * @param least the lowest limit that a key has at any time, where operators change it
 * @param recovery how long at most a free permit and a live waiter may be there at the same time
 * @param eachGrantCounts whether any grant of a key ends the time that a permit of it is free for: where calls hold for no
 *     time, permits are always on their way, and all of them are never seen in use
 * @param order how much later a call may have asked than one it overtakes, {@code null} if calls of one process may
 *     overtake others by hand-over
 * @param late how late a wait may end at most, not counting when processes could not run
 * @param over where more holders than the limit are a named exception: how long at most from the first to the last moment
 *     with too many after one fault, {@code null} for as long as the fault is excused
 * @param firstCall how long at most a process gets no permit after a server can serve again, {@code null} if
 *     that is not measured
 */
public record Rules(
        int limit,
        int least,
        Duration recovery,
        boolean eachGrantCounts,
        @Nullable Duration order,
        Duration late,
        @Nullable Duration over,
        @Nullable Duration firstCall) {}
