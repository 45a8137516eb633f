/**
 * The step of a store: what a claim does to the records of its key, without clock, I/O or chance. Stores that keep the
 * records in memory or compute on a snapshot use it; Redis runs the same step in Lua.
 */
@NullMarked
package io.github.distributedpermit.spi.step;

import org.jspecify.annotations.NullMarked;
