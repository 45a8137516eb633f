/** Loads of many tenants and of urgent calls in several JVMs, whose limits and orders are counted from outside. */
@NullMarked
package io.github.distributedpermit.harness.tenants;

import org.jspecify.annotations.NullMarked;
