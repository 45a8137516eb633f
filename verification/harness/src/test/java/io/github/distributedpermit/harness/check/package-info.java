/** The invariants, checked over a history. */
@NullMarked
package io.github.distributedpermit.harness.check;

import org.jspecify.annotations.NullMarked;
