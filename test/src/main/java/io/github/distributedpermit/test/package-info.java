/**
 * For the tests of applications that use permits: {@link AutoConfigureDistributedPermit} keeps them in memory,
 * {@link PermitAssert} says what was done with them, and {@link PermitClock} moves the time on which they wait.
 */
@NullMarked
package io.github.distributedpermit.test;

import org.jspecify.annotations.NullMarked;
