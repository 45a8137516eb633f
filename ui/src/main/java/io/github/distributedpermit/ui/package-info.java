/** The live page: an actuator endpoint with a page, which asks it for what the endpoint {@code permits} says. */
@NullMarked
package io.github.distributedpermit.ui;

import org.jspecify.annotations.NullMarked;
