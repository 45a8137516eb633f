package io.github.distributedpermit.spi.step;

import java.util.Set;

/**
 * What a server that may lose state says about itself at the time of a claim. Immutable.
 *
 * <p>The epoch is part of every answer, and members return it with their claims, by which a server notices that
 * members have seen data which it does not have.
 *
 * @param epoch changes with every start and every promotion of a server; not 0
 * @param run changes with every start
 * @param node what the other servers know it by; empty if there are none
 * @param promoted whether it was a replica before, so that missing data may have been lost
 * @param startedAt when it was started, on its clock in microseconds
 * @param serving the nodes that are known to serve keys, so that a key that came from one of them was migrated
 */
public record ServerIdentity(
        long epoch, String run, String node, boolean promoted, long startedAt, Set<String> serving) {

    /** Checks the values. */
    public ServerIdentity {
        if (epoch == 0) {
            throw new IllegalArgumentException("An epoch is not 0");
        }
        serving = Set.copyOf(serving);
    }
}
