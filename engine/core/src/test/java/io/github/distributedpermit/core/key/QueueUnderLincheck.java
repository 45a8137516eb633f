package io.github.distributedpermit.core.key;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.Release;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.key.Outcome.Abandoned;
import io.github.distributedpermit.core.store.StoreLog;
import io.github.distributedpermit.core.store.StoreWatch;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;

/**
 * One real line with calls that come and leave in every order Lincheck finds. The other side answers each
 * claim at once, as a store does whose only member this is; so at rest no call waits while a permit is free, and every
 * permit in use has its call.
 */
@Param(name = "call", gen = IntGen.class, conf = "0:1")
public class QueueUnderLincheck {

    static final int LIMIT = 1;
    private static final int CALLS = 2;
    private static final long LEASE = 15_000_000_000L;

    private final PermitName permit = new PermitName(
            PermitDefinition.named("queue", "the test").limit(LIMIT).build(),
            new Policy(
                    LIMIT, LEASE, LEASE / 5, LEASE, LEASE / 30, 0, 0, 10, false, Release.ASYNC, OnStoreFailure.FAIL));
    private final KeyQueue queue = queue(permit.policy(), new OnlyMember(alone()));
    private final AtomicReferenceArray<@Nullable Waiter> calls = new AtomicReferenceArray<>(CALLS);

    private static KeyQueue queue(Policy policy, OnlyMember member) {
        return new KeyQueue("queue", policy, false, member);
    }

    /** Whether idle permits may stay. */
    boolean alone() {
        return false;
    }

    Waiter waiter() {
        return new Waiter(permit, "queue", 1, true, 0, outcome -> {});
    }

    /** A call comes, unless it is here. */
    @Operation(params = "call")
    public final void arrive(@Param(name = "call") int call) {
        if (calls.get(call) == null) {
            Waiter waiter = waiter();
            Grant idle = queue.take(permit, 1, 0);
            if (idle == null) {
                queue.enter(waiter);
            } else {
                waiter.decide(idle);
            }
            if (!calls.compareAndSet(call, null, waiter)) {
                end(waiter);
            }
        }
    }

    /** A call gives up, or gives its permit back if it was served. */
    @Operation(params = "call")
    public final void leave(@Param(name = "call") int call) {
        Waiter waiter = calls.getAndSet(call, null);
        if (waiter != null) {
            end(waiter);
        }
    }

    private void end(Waiter waiter) {
        if (waiter.decide(Abandoned.ABANDONED)) {
            queue.left(waiter);
        } else if (waiter.outcome() instanceof Grant grant) {
            grant.release();
        }
    }

    /** At rest: as many permits in use as calls have, no more than the limit, and none free while a call waits. */
    @Validate
    public final void everyPermitHasItsCall() {
        int served = 0;
        boolean waits = false;
        for (int call = 0; call < CALLS; call++) {
            Waiter waiter = calls.get(call);
            boolean holds = waiter != null && waiter.outcome() instanceof Grant;
            served += holds ? 1 : 0;
            waits |= waiter != null && !holds;
        }
        int inUse = permit.counts.holders();
        if (inUse != served || inUse > LIMIT || (waits && inUse < LIMIT)) {
            throw new IllegalStateException(
                    "%d permits in use, %d calls have one, calls wait: %s".formatted(inUse, served, waits));
        }
    }

    /** The environment of the queue: time stands still, and the store has no other member. */
    static class OnlyMember implements KeyQueue.Owner {

        private final boolean alone;
        private final AtomicLong sequence = new AtomicLong();
        private final StoreWatch watch = new StoreWatch(LEASE / 5, new StoreLog("local", "", event -> {}), () -> {});
        private long seen;
        private int permits;

        OnlyMember(boolean alone) {
            this.alone = alone;
        }

        private synchronized Holding answer(Claim claim) {
            if (claim.sequence() > seen) {
                seen = claim.sequence();
                permits = Math.min(claim.counts().wanted(), LIMIT);
            }
            return new Holding(permits, LIMIT, seen, seen, Holding.Others.NONE);
        }

        @Override
        public boolean isAlone() {
            return alone;
        }

        @Override
        public void send(Claim claim, SentClaim sent) {
            sent.accept(answer(claim), null);
        }

        @Override
        public long nextSequence() {
            return sequence.incrementAndGet();
        }

        @Override
        public long now() {
            return 0;
        }

        @Override
        public long time(long tickerNanos) {
            return tickerNanos;
        }

        @Override
        public long changes() {
            return 0;
        }

        @Override
        public Admission admission() {
            return Admission.ALL;
        }

        @Override
        public UnlimitedGrants unlimitedGrants() {
            throw new AssertionError("no name is without a limit");
        }

        @Override
        public StoreWatch watch() {
            return watch;
        }

        @Override
        public long aliveUntil() {
            return Long.MAX_VALUE;
        }

        @Override
        public long lostSessions() {
            return 0;
        }

        @Override
        public Scheduler scheduler() {
            return (task, delay) -> () -> {};
        }

        @Override
        public double jitter() {
            return 0;
        }

        @Override
        public void granted(String key, Holding holding) {}

        @Override
        public void retired(KeyQueue queue) {}

        @Override
        public void progress() {}

        @Override
        public void callback(Runnable task) {
            task.run();
        }

        @Override
        public void released(Grant grant) {}

        @Override
        public void awaitReturn(Future<Void> confirmation) {}

        @Override
        public void lost(Grant grant) {}

        @Override
        public boolean isObserved() {
            return false;
        }

        @Override
        public void claimed(boolean answered, long took) {}

        @Override
        public void notice(Runnable task) {
            task.run();
        }

        @Override
        public boolean trouble(KeyQueue queue, Throwable cause) {
            throw new IllegalStateException(cause);
        }

        @Override
        public boolean noteLimit(String key, int limit, int stated) {
            return false;
        }

        @Override
        public void limitChanged(String key) {}

        @Override
        public int limitInForce(String key, int own) {
            return own;
        }

        @Override
        public void stateLost() {}

        @Override
        public void graceBegins(String key, boolean moved, long lasts) {}

        @Override
        public PauseState pause(PermitName name) {
            return PauseState.NONE;
        }

        @Override
        public void findPause(PermitName name) {}

        @Override
        public int localShare(String key, int limit) {
            return 0;
        }

        @Override
        public void ranWithoutStore(PermitName name, OnStoreFailure how, int share, int limit) {}

        @Override
        public void logLosses(List<Grant> grants) {}
    }
}
