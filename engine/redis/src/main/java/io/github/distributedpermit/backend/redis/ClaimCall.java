package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PendingClaim;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * One claim and the future of its answer. It waits in the {@link ClaimPipeline} and is then sent in a {@link ClaimBatch},
 * alone or with other claims. As a future it is thread-safe; {@link #claim}, {@link #next} and what it {@linkplain #replaces
 * replaces} change under the lock of the pipeline only, before the claim is sent.
 */
final class ClaimCall extends Call<Holding> implements PendingClaim {

    /** Stands for no time: the monotonic clock never has this value in practice. */
    private static final long NOT_WRITTEN = Long.MIN_VALUE;

    /** The most claims that one claim replaces, directly or through each other. They end in nested calls, which take stack. */
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

    /** How many claims this one replaces, directly or through each other. */
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
     * Takes the place of an earlier claim of the same key that was not sent, such as a return that is followed by a claim for
     * a new call. The earlier claim is not sent, as if it had been lost on the way, and ends with the answer to this one. This
     * claim then leaves the member no more than the earlier one would have, so that members that wait are offered what that
     * one returns.
     *
     * @param highestSent the highest sequence that was sent. An earlier claim with a lower sequence may have no effect any more
     *     in the store. It must not lower what this claim leaves, because the member may have been granted those permits since
     * @return {@code false} if this is not possible: the earlier claim is of another key, is below {@code highestSent}, has
     *     replaced {@value #MOST_REPLACED} others, or makes the store examine whether it lost state and this one does not
     */
    boolean replaces(ClaimCall earlier, long highestSent) {
        Claim before = earlier.claim;
        if (!areEqual(before.key(), claim.key())) {
            return false;
        }
        boolean inOrder = claim.sequence() > before.sequence() && before.sequence() > highestSent;
        boolean checks = before.reclaim().checksEpoch() && !claim.reclaim().checksEpoch();
        if (!inOrder || checks || earlier.replacedInAll == MOST_REPLACED) {
            return false;
        }
        claim = claim.keepingAtMost(before.counts().held());
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

    /** A batch of many keys compares each with the others. The hash codes are compared first, because strings cache them. */
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

    /** Withdraws the claim, and its command if no other claim of the command needs an answer. */
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
