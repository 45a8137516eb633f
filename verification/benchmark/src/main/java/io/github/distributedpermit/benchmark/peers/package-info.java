/** What others do for the same purpose, and the floors that nobody can go below. */
@NullMarked
package io.github.distributedpermit.benchmark.peers;

import org.jspecify.annotations.NullMarked;
