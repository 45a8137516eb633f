/**
 * Events of Java Flight Recorder: waits, holds and losses of permits. They cost one test of a constant while no recording has
 * switched them on, and nothing where the run time has no module {@code jdk.jfr}.
 */
@NullMarked
package io.github.distributedpermit.core.jfr;

import org.jspecify.annotations.NullMarked;
