/** What happens to calls, as Micrometer meters, tagged by the permit's name. */
@NullMarked
package io.github.distributedpermit.metrics;

import org.jspecify.annotations.NullMarked;
