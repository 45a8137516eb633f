package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PendingClaim;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * One claim and the future of its answer. It waits in the {@link ClaimPipeline} and is then sent in a {@link ClaimBatch},
 * alone or with other claims. Thread-safe, except for {@link #next}.
 *
 * <p>{@link RedisPermitStore#claim} creates it, and {@link ConnectionManager} passes it to the pipeline.
 */
final class ClaimCall extends Call<Holding> implements PendingClaim {

    /** No time of the monotonic clock in practice. */
    private static final long NOT_WRITTEN = Long.MIN_VALUE;

    /** The most claims that end with one claim, one inside the other. It bounds the stack that this takes. */
    private static final int MOST_REPLACED = 8;

    /** What is sent. It changes only before it is sent, under the lock of the pipeline. */
    Claim claim;

    final RedisKey key;
    /** {@code null} before the call has reached a pipeline. */
    private volatile @Nullable Carrier carrier;
    /** On the core's monotonic clock, in nanoseconds. The core counts the command time-out from it. */
    private volatile long writtenAt = NOT_WRITTEN;

    /** The claim that this one makes superfluous: it is not sent, and ends as this one does. */
    private @Nullable ClaimCall replaced;

    /** How many claims end with this one. */
    private int replacedInAll;

    /** The claim behind this one in the {@link ClaimQueue}, which alone reads and writes it. */
    @Nullable
    ClaimCall next;

    ClaimCall(Claim claim, RedisKey key) {
        this.claim = claim;
        this.key = key;
    }

    /** From now on the claim waits in this pipeline. */
    void waitIn(Carrier pipeline) {
        carrier = pipeline;
    }

    /**
     * Makes an unsent earlier claim of the same key superfluous, such as the return before the claim that asks again. To the
     * store the earlier one is a message that was lost, and its answer is that to a message that arrived late: it has the
     * higher sequence of this claim. This claim then leaves no more than either of them would, so that what the earlier one
     * returns is offered to members that wait before it.
     *
     * @param highestSent the highest sequence of a claim that was sent. An earlier claim below it may have no effect any
     *     more, and must not lower what this claim leaves: the member may have been granted it since
     * @return {@code false} if this is not possible: the earlier claim is of another key, may have no effect any more, makes
     *     the store examine whether it lost state, or has replaced many others
     */
    boolean replaces(ClaimCall earlier, long highestSent) {
        Claim before = earlier.claim;
        if (!areEqual(before.key(), claim.key())) {
            return false;
        }
        boolean inOrder = claim.sequence() > before.sequence() && before.sequence() > highestSent;
        boolean probes = before.probe() && !claim.probe();
        if (!inOrder || probes || earlier.replacedInAll == MOST_REPLACED) {
            return false;
        }
        claim = claim.leaving(before.held());
        replaced = earlier;
        replacedInAll = earlier.replacedInAll + 1;
        whenComplete((answer, failure) -> {
            if (failure == null) {
                earlier.complete(answer);
            } else if (failure instanceof CancellationException) {
                earlier.failUnsent("A later claim of the key was sent in its place, and was withdrawn");
            } else {
                earlier.completeExceptionally(failure);
            }
        });
        return true;
    }

    /** A batch of many keys compares each key with the others, so the hash codes, which strings keep, are compared first. */
    private static boolean areEqual(String one, String other) {
        return one.hashCode() == other.hashCode() && one.equals(other);
    }

    /** From now on the claim is part of this batch, whose content was fixed at the given time. */
    void joinBatch(Carrier batch, long now) {
        carrier = batch;
        writtenAt = now;
        ClaimCall earlier = replaced;
        if (earlier != null) {
            earlier.joinBatch(batch, now);
        }
    }

    /** Empty while the claim waits for the first connection, or in the queue of the pipeline. */
    @Override
    public OptionalLong writtenAtNanos() {
        long at = writtenAt;
        return at == NOT_WRITTEN ? OptionalLong.empty() : OptionalLong.of(at);
    }

    /** Withdraws the claim, and with it the command that no other claim needs. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        Carrier before = carrier;
        if (cancelled && before != null) {
            before.claimCancelled();
            Carrier now = carrier;
            if (now != null && now != before) { // the claim joined a batch after the first read
                now.claimCancelled();
            }
        }
        return cancelled;
    }

    /**
     * What holds the claim at the moment: first the pipeline, then a batch. The pipeline drops cancelled claims from
     * its queue; a batch cancels its command when none of its claims needs an answer.
     */
    interface Carrier {

        /** One of its claims was cancelled. */
        void claimCancelled();
    }
}
