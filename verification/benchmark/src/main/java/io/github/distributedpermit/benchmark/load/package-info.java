/** Closed-loop load, and the independent observer of the limit. */
@NullMarked
package io.github.distributedpermit.benchmark.load;

import org.jspecify.annotations.NullMarked;
