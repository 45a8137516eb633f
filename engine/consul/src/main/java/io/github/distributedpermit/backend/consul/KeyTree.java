package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * All that Consul has of one permit key, at one moment. Members are named by their sessions: an instance
 * that lost one is another member with the next.
 */
interface KeyTree {

    KeyNames names();

    /** The operator's limit, if set. */
    OptionalInt override();

    /** The members in the queue, by their sessions. */
    Map<String, QueuedMember> waiting();

    /** The highest index of a change that can still be seen. */
    long index();

    /** Permits in use. */
    int used();

    int permits(String session);

    /** The members of this library that hold permits, as far as the tree shows that their first sessions are alive. */
    Set<String> holdingMembers();

    /** A name for each permit of a session, which stays the same for as long as the session keeps it. */
    Set<String> permitNames(String session);

    /** The sessions of a member that are in use here, besides its first. */
    Set<String> sessions(String session);

    /** Operations that only read, and of which one fails if a permit of the session is gone. */
    List<TxnOperation> proof(String session);

    /** Whether another member waits. */
    default boolean othersWait(String session) {
        return waiting().size() > (waiting().containsKey(session) ? 1 : 0);
    }

    /** Whether a session neither holds nor waits, nor has anything else here. */
    boolean isWithout(String session);

    /** Whether the guard of the queue exists, so that no member can wait unseen. */
    boolean isGuarded();

    /** Of those that a session has, the lowest place among all permits; at one index no two sessions have the same. */
    OptionalInt lowestPlace(String session);

    /** The id of the member behind a session. */
    String member(String session);

    /** The record of a session; empty if it neither holds nor waits. */
    Optional<PermitRecord> record(String session);

    /** What the step computes on. */
    KeyTable table();
}
