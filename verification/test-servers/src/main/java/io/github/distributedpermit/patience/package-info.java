/** How long tests wait for what has to happen. */
@NullMarked
package io.github.distributedpermit.patience;

import org.jspecify.annotations.NullMarked;
