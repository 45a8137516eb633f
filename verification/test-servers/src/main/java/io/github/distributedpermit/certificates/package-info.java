/** Certificates of an authority that a test makes itself. */
@NullMarked
package io.github.distributedpermit.certificates;

import org.jspecify.annotations.NullMarked;
