package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.OverrideLimit;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The member that makes a change of a key, and the part of the change that is not in the step. Immutable.
 *
 * <p>The declared limit and the one in effect differ while an operator's limit is set; a new entry of the member states the
 * declared one.
 *
 * @param sessions of that member: the first one names it, the others hold permits where one session can hold only one
 * @param member its id
 * @param declared the limit that its claim states; absent if there is no claim
 * @param limit the limit in effect: the operator's, else the declared one; absent if there is neither
 * @param override the operator's new limit, or none, if that is to be written
 * @param wanted how many permits it wants in all
 * @param inbox whether it may have a notice for this key
 * @param nonce different each time: Consul takes the writing of the same value for no change
 */
record ChangeRequest(
        List<String> sessions,
        String member,
        OptionalInt declared,
        OptionalInt limit,
        Optional<OverrideLimit> override,
        int wanted,
        boolean inbox,
        String nonce) {

    /** The first session, which names the member in every tree. */
    String session() {
        return sessions.get(0);
    }
}
