/**
 * Threads, waiting, time-outs and hand-over inside one process: one small state machine per key.
 */
@NullMarked
package io.github.distributedpermit.core;

import org.jspecify.annotations.NullMarked;
