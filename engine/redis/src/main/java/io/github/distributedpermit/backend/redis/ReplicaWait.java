package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.PermitStoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Asks, by {@code WAIT 1} behind a command, whether a replica has what the connection wrote so far. Immutable.
 *
 * <p>Each claim writes, also one whose sequence is out of date, so that the answer covers also what others wrote before: a grant by
 * the claim of another member, for example. {@code WAIT} blocks the connection until a replica has confirmed or the time is over.
 * All claims of the member share the connection, so that the time is a quarter of the command time-out: two commands in flight,
 * each with its {@code WAIT}, still end within the time-out.
 *
 * <p>{@link ClaimBatch} sends one behind each of its commands if the settings demand it. What Redis promises about
 * {@code WAIT} is in its documentation, https://redis.io/docs/latest/commands/wait/.
 */
final class ReplicaWait {

    private static final int REPLICAS = 1;
    private static final int PART_OF_THE_TIMEOUT = 4;

    private final long millis;

    /** @param commandTimeout of the member; a quarter of it is the time that a replica has */
    ReplicaWait(Duration commandTimeout) {
        this.millis = Math.max(1, commandTimeout.toMillis() / PART_OF_THE_TIMEOUT);
    }

    /** How long it blocks the connection at most, in milliseconds. */
    long longest() {
        return millis;
    }

    /** Sends it behind what was sent before on this connection. It counts as a command that waits for its answer. */
    RedisFuture<Long> sendOver(SharedConnection to) {
        to.countSent();
        boolean followed = false;
        try {
            RedisFuture<Long> sent = to.commands().waitForReplication(REPLICAS, millis);
            sent.whenComplete((replicas, failure) -> to.countEnded(failure == null
                    || PermitStoreException.causeOf(failure) instanceof RedisCommandExecutionException));
            followed = true;
            return sent;
        } finally {
            if (!followed) {
                to.countEnded(false);
            }
        }
    }

    /**
     * Why the command before does not count; {@code null} if a replica has confirmed it.
     *
     * @param replicas how many have; {@code null} after a failure
     */
    @Nullable
    Throwable reasonNotToCount(@Nullable Long replicas, @Nullable Throwable failure) {
        if (failure != null) {
            return failure;
        }
        if (replicas != null && replicas >= REPLICAS) {
            return null;
        }
        return PermitStoreException.passing(
                "No replica of Redis has confirmed the claim within " + millis
                        + " ms, as distributed-permit.redis.wait-for-replica demands: it has none, or they lag",
                null);
    }
}
