package io.github.distributedpermit.spi;

import java.time.Duration;
import java.util.Optional;

/**
 * Members of a key that had permits and are not alive any more, whose permits the store has freed; for operators.
 *
 * @param member the id of one of them
 * @param name its readable name, if the store has it
 * @param permits how many that one had
 * @param ago how long ago its lease ended; empty if its session has ended, or its record was deleted
 * @param others how many others there were at the same moment
 * @param permitsOfOthers how many permits these had
 */
public record Expired(
        String member, Optional<String> name, int permits, Optional<Duration> ago, int others, int permitsOfOthers) {}
