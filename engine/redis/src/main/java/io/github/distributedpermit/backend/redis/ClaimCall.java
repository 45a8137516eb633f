package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PendingClaim;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** One claim, on its way alone or with others. Cancelling it gives it up, and the batch once nobody waits for that. */
final class ClaimCall extends Call<Holding> implements PendingClaim {

    private static final long NOT_YET = Long.MIN_VALUE;

    final Claim claim;
    final RedisKey key;
    private volatile @Nullable Outbox outbox;
    private volatile @Nullable Batch batch;
    private volatile long writtenAt = NOT_YET;

    /** The claim that waits behind this one; belongs to the outbox. */
    @Nullable
    ClaimCall next;

    ClaimCall(Claim claim, RedisKey key) {
        this.claim = claim;
        this.key = key;
    }

    @Override
    void send(Attachment to) {
        if (!isDone()) {
            Outbox used = to.outbox();
            outbox = used;
            used.send(this, to);
        }
    }

    void leavesWith(Batch others) {
        batch = others;
        writtenAt = others.now();
    }

    /** Empty while it waits for the first connection, or behind other commands. */
    @Override
    public OptionalLong writtenAtNanos() {
        long at = writtenAt;
        return at == NOT_YET ? OptionalLong.empty() : OptionalLong.of(at);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        Outbox used = outbox;
        if (cancelled && batch == null && used != null) {
            used.givenUp();
        }
        Batch others = batch; // perhaps only since then
        if (cancelled && others != null) {
            others.cancelIfUnwanted();
        }
        return cancelled;
    }
}
