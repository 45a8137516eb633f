/** Tries to break the library with several JVMs, real servers and aimed faults. */
@NullMarked
package io.github.distributedpermit.harness;

import org.jspecify.annotations.NullMarked;
