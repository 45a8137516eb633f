package io.github.distributedpermit.spi;

import java.time.Duration;
import java.util.Optional;

/**
 * One call of this process that holds permits or waits for some, for operators. Immutable.
 *
 * @param name of the permit
 * @param key what is limited
 * @param permits how many permits it holds or wants
 * @param holding whether it holds them
 * @param age since when it holds or waits
 * @param caller who made it; empty if that is not recorded
 */
public record CallView(String name, String key, int permits, boolean holding, Duration age, Optional<Caller> caller) {}
