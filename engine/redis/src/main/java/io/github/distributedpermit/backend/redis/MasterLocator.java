package io.github.distributedpermit.backend.redis;

import io.lettuce.core.RedisURI;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** Finds the server that takes claims. Thread-safe. */
interface MasterLocator extends AutoCloseable {

    /** Where to connect now. May ask servers, and blocks for one time-out for each of them at most. */
    RedisURI findMaster() throws InterruptedException, ExecutionException, TimeoutException;

    /** Whether claims may still be sent there, as far as is known. Never blocks. */
    default boolean isMaster(RedisURI server) {
        return true;
    }

    /**
     * Whether it is certain that another server was made the master in the place of this one, so that this one may be made to refuse
     * claims. Never blocks.
     */
    default boolean isReplaced(RedisURI server) {
        return false;
    }

    /** A server was lost, or answers that it takes no writes: the known master may be out of date. Never blocks. */
    default void recheckMaster() {}

    /** Whether connecting again may lead to another server although {@link #isMaster} has not changed. */
    default boolean mayDiffer() {
        return true;
    }

    @Override
    default void close() {}
}
