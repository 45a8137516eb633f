package io.github.distributedpermit.core;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the user set for one permit name; {@code null} leaves a value to the declaration or to {@link CoreSettings}.
 *
 * @param limit how many permits a key has
 * @param block whether calls wait
 * @param timeout how long they wait at most
 * @param storeTimeout see {@link CoreSettings#storeTimeout()}
 * @param lease see {@link CoreSettings#lease()}
 * @param handOverSlice see {@link CoreSettings#handOverSlice()}
 * @param linger see {@link CoreSettings#linger()}
 * @param release see {@link CoreSettings#release()}
 */
public record PermitSettings(
        @Nullable Integer limit,
        @Nullable Boolean block,
        @Nullable Duration timeout,
        @Nullable Duration storeTimeout,
        @Nullable Duration lease,
        @Nullable Duration handOverSlice,
        @Nullable Duration linger,
        @Nullable Release release) {}
