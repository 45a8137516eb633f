/** This project's backends as contenders. */
@NullMarked
package io.github.distributedpermit.benchmark.ours;

import org.jspecify.annotations.NullMarked;
