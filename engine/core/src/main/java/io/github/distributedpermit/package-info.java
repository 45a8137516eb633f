/**
 * The API: the annotation, the programmatic twin and the two exceptions. It knows neither Spring nor any store.
 */
@NullMarked
package io.github.distributedpermit;

import org.jspecify.annotations.NullMarked;
