/** Answers of web applications to calls that got no permit: HTTP status, {@code Retry-After} and a problem detail. */
@NullMarked
package io.github.distributedpermit.web;

import org.jspecify.annotations.NullMarked;
