/** Planted mistakes. */
@NullMarked
package io.github.distributedpermit.harness.mutant;

import org.jspecify.annotations.NullMarked;
