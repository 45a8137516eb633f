package io.github.distributedpermit.backend.consul;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Who makes a change, and what besides the step of the protocol belongs to it.
 *
 * @param sessions of the member that makes the change, by the first of which it goes; the others hold permits where
 *     one session can hold only one
 * @param member its id
 * @param declared the limit it brings itself; absent if it changes nothing but the override
 * @param limit that it uses; absent if it changes nothing but the override
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
        Optional<OptionalInt> override,
        int wanted,
        boolean inbox,
        String nonce) {

    String session() {
        return sessions.get(0);
    }
}
