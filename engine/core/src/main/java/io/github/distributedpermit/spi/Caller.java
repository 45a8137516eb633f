package io.github.distributedpermit.spi;

import java.util.Optional;

/**
 * Who made a call, for operators. Immutable.
 *
 * @param method the class and the method that the permit limits or that asked for it, if that is known
 * @param thread the name of the thread that made the call
 * @param traceId of the trace that the call belongs to, if there is one
 */
public record Caller(Optional<String> method, String thread, Optional<String> traceId) {}
