/** Other libraries for the same purpose, and the lower bounds of what any limiter costs. */
@NullMarked
package io.github.distributedpermit.benchmark.peers;

import org.jspecify.annotations.NullMarked;
