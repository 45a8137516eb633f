/** Permits in Consul: slots bound to the member's session, or the lock file of HashiCorp's own semaphore. */
@NullMarked
package io.github.distributedpermit.backend.consul;

import org.jspecify.annotations.NullMarked;
