/** The processes and servers of a run, as their master sees them. */
@NullMarked
package io.github.distributedpermit.harness.fleet;

import org.jspecify.annotations.NullMarked;
