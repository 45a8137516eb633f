package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.step.KeyTable;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * All that Consul has of one permit key, at one moment. Members go by their sessions: an instance that lost one is
 * somebody else with the next.
 */
interface Board {

    KeyNames names();

    /** The operator's limit, if set. */
    OptionalInt override();

    /** The highest index of a change that can still be seen. */
    long index();

    /** Permits in use. */
    int used();

    int permits(String session);

    /** A name for each permit of a session, which stays the same for as long as the session keeps it. */
    Set<String> permitNames(String session);

    /** The sessions of a member that are in use here, besides its first. */
    Set<String> sessions(String session);

    /** Operations that only read, and of which one fails if a permit of the session is gone. */
    List<Op> proof(String session);

    /** Whether somebody else stands in line. */
    boolean othersWait(String session);

    /** Whether a session neither holds nor waits, nor has anything else here. */
    boolean isWithout(String session);

    /** Whether what guards the line is there, so that nobody can be in it unseen. */
    boolean isGuarded();

    /** Of those that a session has, the lowest place among all permits; at one index no two sessions have the same. */
    OptionalInt lowestPlace(String session);

    /** The id of the member behind a session. */
    String member(String session);

    /** What the step computes on. */
    KeyTable table();
}
