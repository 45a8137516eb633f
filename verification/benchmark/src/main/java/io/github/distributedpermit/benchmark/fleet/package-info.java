/** Several processes that load one store together. */
@NullMarked
package io.github.distributedpermit.benchmark.fleet;

import org.jspecify.annotations.NullMarked;
