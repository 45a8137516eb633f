package io.github.distributedpermit.backend.redis;

import io.lettuce.core.RedisURI;

/**
 * Finds the server that takes claims. Thread-safe: {@link Connector} calls {@link #findMaster} on its own thread, and
 * the other methods on any thread.
 *
 * <p>{@link StaticNodes} and {@link Sentinels} implement it; for one server it always names that one.
 */
interface MasterLocator extends AutoCloseable {

    /** No vote is known. Votes are numbers of 0 or more; a later one is greater. */
    long NO_VOTE = -1;

    /**
     * Where to connect now. May ask servers, and blocks for one time-out for each of them at most. Fails with {@link
     * io.github.distributedpermit.spi.PermitStoreException} if no server is named.
     */
    RedisURI findMaster() throws InterruptedException;

    /**
     * Whether claims may still be sent there, as far as is known. Never blocks.
     *
     * @param server as {@link #findMaster} has returned it
     */
    default boolean isMaster(RedisURI server) {
        return true;
    }

    /**
     * The vote that has made another server the master in the place of this one, so that this one may be made to refuse claims;
     * {@link #NO_VOTE} if that is not certain. Never blocks.
     */
    default long replacedBy(RedisURI server) {
        return NO_VOTE;
    }

    /**
     * The vote by which this server is the master, so that it may be made to take claims again; {@link #NO_VOTE} if it is not known to
     * be. Never blocks.
     */
    default long chosenBy(RedisURI server) {
        return NO_VOTE;
    }

    /** A server was lost, or answers that it takes no writes: the known master may be out of date. Never blocks. */
    default void recheckMaster() {}

    /**
     * Whether connecting again may lead to another server although {@link #isMaster} has not changed. Otherwise
     * connecting again would only lead to the same server.
     */
    default boolean mayDiffer() {
        return true;
    }

    @Override
    default void close() {}
}
