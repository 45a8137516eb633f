/**
 * A small report-export service: however many instances run, never more than three exports run at once.
 */
@NullMarked
package io.github.distributedpermit.sample;

import org.jspecify.annotations.NullMarked;
