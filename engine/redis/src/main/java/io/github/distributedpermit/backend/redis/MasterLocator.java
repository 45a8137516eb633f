package io.github.distributedpermit.backend.redis;

import io.lettuce.core.RedisURI;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** Knows which server takes claims. */
interface MasterLocator extends AutoCloseable {

    /** Where to connect now; may ask servers, each for one time-out at most. */
    RedisURI master() throws InterruptedException, ExecutionException, TimeoutException;

    /** Whether claims may still go there, as far as that is known. Never blocks. */
    default boolean isMaster(RedisURI server) {
        return true;
    }

    /** A server was lost, or says that it takes no writes: what is known may be out of date. Never blocks. */
    default void doubt() {}

    /** Whether connecting again may lead to another server although {@link #isMaster} has not changed. */
    default boolean mayDiffer() {
        return true;
    }

    @Override
    default void close() {}
}
