package io.github.distributedpermit.core.key;

import io.github.distributedpermit.OnStoreFailure;
import org.jspecify.annotations.Nullable;

/**
 * A call that runs without the store during an outage: the owner of its {@link Grant}. It passes everything on to the queue of
 * the key, and remains the owner when the store has recorded the permit later. All fields but {@code counted} are guarded by
 * the lock of the queue, and {@code counted} is written under that lock only.
 */
final class OutageCall implements Grant.Owner {

    final Grant grant;
    private final Grant.Owner queue;
    private final int limit;

    @Nullable
    OutageCall previous;

    @Nullable
    OutageCall next;

    /** Asks the store for the permit after the outage; {@code null} during it. */
    @Nullable
    Adoption adoption;

    /** Whether the numbers for the observer count it. */
    boolean gauged;

    /** Whether it runs without the store: neither ended nor recorded by the store. */
    volatile boolean counted;

    OutageCall(Grant.Owner queue, Waiter waiter, long count, long now) {
        this.limit = waiter.limit;
        this.queue = queue;
        this.grant = new Grant(this, waiter.permit, waiter.weight, Grant.STORELESS, count, now);
        this.grant.group = waiter.group;
    }

    @Override
    public String key() {
        return queue.key();
    }

    @Override
    public boolean isOfOutage() {
        return true;
    }

    @Override
    public boolean isValid(Grant which) {
        return counted || queue.isValid(which);
    }

    @Override
    public boolean release(Grant which) {
        return queue.release(which);
    }

    @Override
    public void notice(Runnable task) {
        queue.notice(task);
    }

    /** The place in the queue of a permit that a call has already. No caller waits for it, so its end wakes none. */
    static final class Adoption extends Waiter {

        final OutageCall call;

        Adoption(OutageCall call) {
            super(
                    call.grant.permit,
                    call.key(),
                    call.grant.weight,
                    true,
                    call.grant.grantedAt,
                    outcome -> {},
                    OnStoreFailure.FAIL);
            this.call = call;
            this.limit = call.limit;
            this.firstClaim = 0; // the limit as of the last answer may reject it, since that does not end the call
        }
    }
}
