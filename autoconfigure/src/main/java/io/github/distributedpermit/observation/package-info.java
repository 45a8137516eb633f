/** Waits and holds of permits as observations of Micrometer, so that traces show them. */
@NullMarked
package io.github.distributedpermit.observation;

import org.jspecify.annotations.NullMarked;
