/** The actuator endpoint {@code permits}: what the permits of the fleet and the calls of this instance do, and operations that change them. */
@NullMarked
package io.github.distributedpermit.endpoint;

import org.jspecify.annotations.NullMarked;
