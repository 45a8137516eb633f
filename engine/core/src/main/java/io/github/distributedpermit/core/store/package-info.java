/**
 * What this process knows of its store: whether it answers, is silent, or is bypassed by calls that may run without it. It knows
 * neither keys nor calls; queues, probes and health checks report to it what their claims have shown.
 */
@NullMarked
package io.github.distributedpermit.core.store;

import org.jspecify.annotations.NullMarked;
