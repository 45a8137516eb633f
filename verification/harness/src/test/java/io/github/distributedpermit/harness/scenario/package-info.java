/** The faults. */
@NullMarked
package io.github.distributedpermit.harness.scenario;

import org.jspecify.annotations.NullMarked;
