package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import org.jspecify.annotations.Nullable;

/**
 * A permit that a thread holds by the annotation.
 *
 * @param permit taken last
 * @param before the one taken before
 */
record HeldPermit(Permit permit, @Nullable HeldPermit before) {}
