package io.github.distributedpermit.backend.zookeeper;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * What all keys of a member share. Thread-safe.
 *
 * @param member its id
 * @param nodes access to the tree
 * @param session the member's
 * @param ticker the monotonic clock
 * @param joins counts the nodes the member has made
 */
record MemberContext(String member, Nodes nodes, MemberSession session, LongSupplier ticker, AtomicLong joins) {

    /** The name is used for one node only, of any key, so that the existence of a node proves that it is this one. */
    String nextNode() {
        return Names.member(member, joins.incrementAndGet());
    }

    /** In nanoseconds. */
    long now() {
        return ticker.getAsLong();
    }
}
