package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import org.jspecify.annotations.Nullable;

/** One claim, on its way alone or with others. Cancelling it gives it up, and the batch once nobody waits for that. */
final class ClaimCall extends Call<Holding> {

    final Claim claim;
    final RedisKey key;
    private final Outbox outbox;
    private volatile @Nullable Batch batch;

    /** The claim that waits behind this one; belongs to the outbox. */
    @Nullable
    ClaimCall next;

    ClaimCall(Claim claim, RedisKey key, Outbox outbox) {
        this.claim = claim;
        this.key = key;
        this.outbox = outbox;
    }

    @Override
    void send(Attachment to) {
        if (!isDone()) {
            outbox.send(this, to);
        }
    }

    void leavesWith(Batch others) {
        batch = others;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        if (cancelled && batch == null) {
            outbox.givenUp();
        }
        Batch others = batch; // perhaps only since then
        if (cancelled && others != null) {
            others.cancelIfUnwanted();
        }
        return cancelled;
    }
}
