package io.github.distributedpermit.harness.check;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a history has to keep to.
 *
 * @param limit how many may hold a key at once
 * @param recovery how long at most a free permit and a live waiter may be there at the same time
 * @param order how much later a call may have asked than one it overtakes, {@code null} if calls of one process may
 *     overtake others by hand-over
 * @param late how late a wait may end at most
 */
public record Rules(int limit, Duration recovery, @Nullable Duration order, Duration late) {}
