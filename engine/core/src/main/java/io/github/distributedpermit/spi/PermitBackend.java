package io.github.distributedpermit.spi;

import io.github.distributedpermit.PermitDefinition;

/** A kind of store. One bean per backend; thread-safe. */
public interface PermitBackend {

    /** As in {@code distributed-permit.backend}. */
    String name();

    /**
     * Makes this process a member. Neither blocks nor fails because the store is down: the claims do, one by one.
     *
     * @param listener is notified of grants until the store is closed
     */
    PermitStore join(Member member, HoldingListener listener);

    /**
     * Host and port of the servers, for messages: separated by commas if there are several, empty if there are none. Never
     * holds a user, a password or a token.
     */
    default String address() {
        return "";
    }

    /** The highest limit that a key of this store can have. */
    default int highestLimit() {
        return PermitDefinition.MAX_LIMIT;
    }
}
