/** A real Prometheus for tests. */
@NullMarked
package io.github.distributedpermit.prometheusserver;

import org.jspecify.annotations.NullMarked;
