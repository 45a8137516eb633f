package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.PermitStoreException;
import io.lettuce.core.RedisCommandExecutionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Asks, by {@code WAIT 1} behind a command, whether a replica has what the connection wrote so far. Immutable.
 *
 * <p>Each claim writes, also one whose sequence is out of date, so that the answer covers also what others wrote before: a grant by
 * the claim of another member, for example. {@code WAIT} blocks the connection until a replica has confirmed or the time is over.
 * All claims of the member share the connection, so that the time is a quarter of the command time-out: two commands in flight,
 * each with its {@code WAIT}, still end within the time-out.
 *
 * <p>What Redis promises about {@code WAIT} is in its documentation, https://redis.io/docs/latest/commands/wait/.
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

    /**
     * Sends it behind what was sent before on this connection.
     *
     * @return ends when a replica has confirmed that, or with the reason why it does not count
     */
    CompletableFuture<Void> sendOver(SharedConnection to) {
        CompletableFuture<Void> confirmation = new CompletableFuture<>();
        sendOver(to, confirmation);
        return confirmation;
    }

    /** The same for a future that exists already. It ends in any case. It counts as a command that waits for its answer. */
    void sendOver(SharedConnection to, CompletableFuture<Void> confirmation) {
        to.countSent();
        boolean followed = false;
        try {
            to.commands().waitForReplication(REPLICAS, millis).whenComplete((replicas, failure) -> {
                to.countEnded(failure == null
                        || PermitStoreException.causeOf(failure) instanceof RedisCommandExecutionException);
                end(confirmation, replicas, failure);
            });
            followed = true;
        } catch (RuntimeException | Error e) {
            confirmation.completeExceptionally(
                    e); // otherwise claims that wait for it would end only with their time-out
        } finally {
            if (!followed) {
                to.countEnded(false);
            }
        }
    }

    @SuppressWarnings("NullAway") // null is the one value of Void
    private void end(CompletableFuture<Void> confirmation, @Nullable Long replicas, @Nullable Throwable failure) {
        if (failure != null) {
            confirmation.completeExceptionally(failure);
        } else if (replicas != null && replicas >= REPLICAS) {
            confirmation.complete(null);
        } else {
            confirmation.completeExceptionally(PermitStoreException.passing(
                    "No replica of Redis has confirmed the claim within " + millis
                            + " ms, as distributed-permit.redis.wait-for-replica demands: it has none, or they lag",
                    null));
        }
    }
}
