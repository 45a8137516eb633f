/** Programs that tests need and that come from elsewhere. */
@NullMarked
package io.github.distributedpermit.packages;

import org.jspecify.annotations.NullMarked;
