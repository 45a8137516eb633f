package io.github.distributedpermit.backend.consul;

/**
 * How the permits of a key lie in Consul. All members that share a key use the same layout.
 *
 * <p>A key that another layout has written is refused with a permanent failure, and nothing is written to it.
 */
public enum ConsulLayout {

    /**
     * One key per permit, bound to its holder's session. Members wait in one queue, in the order in which they came. A key has at
     * most 1000 permits.
     */
    SLOTS,

    /**
     * The {@code .lock} document of HashiCorp's own semaphore, so that {@code consul lock -n 3} and annotated methods
     * share one limit. Members wait in a queue among themselves; processes of {@code consul lock} know no queue.
     */
    LOCK_FILE
}
