/** Puts everything together in a Spring Boot application. Nothing else depends on it. */
@NullMarked
package io.github.distributedpermit.autoconfigure;

import org.jspecify.annotations.NullMarked;
