/** The store in memory: for one process, and for tests. */
@NullMarked
package io.github.distributedpermit.backend.local;

import org.jspecify.annotations.NullMarked;
