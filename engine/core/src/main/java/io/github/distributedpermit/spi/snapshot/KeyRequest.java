package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A request that a {@link KeyWorker} executes: a claim, or one of the tasks of {@link Kind}. Immutable except for the
 * futures, which any thread may complete or cancel.
 *
 * <p>{@link SnapshotPermitStore} creates requests, the {@link RequestQueue} merges claims, and a {@link
 * CommitAttempt} executes one at a time.
 */
sealed interface KeyRequest {

    /** Ends the futures that wait for it, each by itself: an Error in what follows from one does not keep the others. */
    void fail(Throwable failure);

    /**
     * Whether nothing waits for it any more. A request whose callers have all given up costs the store nothing if it
     * is dropped before it is sent.
     */
    boolean isAbandoned();

    /**
     * There is no session now. A request that no component of the core ends by itself fails with a {@link
     * java.util.concurrent.TimeoutException} if it has not ended by then.
     */
    default void waitForSession(long seconds) {}

    /** The claim, if it is one. */
    default @Nullable Claim claim() {
        return null;
    }

    /**
     * One claim, or several that came while another was under way: see {@link Claim#mergedWith}. The answers of
     * merged claims are all the same holding: the core orders them by sequence, and ignores what is not newer.
     *
     * @param claim what is to be sent
     * @param arrival when the oldest waiter of the last one came, on the monotonic clock
     * @param answers of all claims that it stands for; empty if the layer repeats a claim by itself
     */
    record ClaimRequest(Claim claim, long arrival, List<CompletableFuture<Holding>> answers) implements KeyRequest {

        /**
         * Fixes the arrival now: the claim may wait in the queue, and the age that it states would be too low when it
         * is sent.
         */
        static ClaimRequest of(Claim claim, long now, CompletableFuture<Holding> answer) {
            return new ClaimRequest(claim, now - claim.head().waited().toNanos(), List.of(answer));
        }

        /**
         * For the layer to repeat after an unknown outcome. No caller waits for it; a grant is reported as a notification instead.
         */
        ClaimRequest withoutCaller() {
            return new ClaimRequest(claim, arrival, List.of());
        }

        /**
         * The arrival is that of the claim that counts, which is the one with the higher sequence even if it came
         * first.
         *
         * @param sent the highest sequence of a claim that was sent
         */
        ClaimRequest mergedWith(ClaimRequest next, long sent) {
            Claim both = claim.mergedWith(next.claim, sent);
            // Callers of a cancelled claim need no answer; without this the list would grow with each repetition of
            // the core.
            List<CompletableFuture<Holding>> all = new ArrayList<>(next.answers);
            answers.stream().filter(a -> !a.isDone()).forEach(all::add);
            return new ClaimRequest(both, both.sequence() == claim.sequence() ? arrival : next.arrival, all);
        }

        /** Whether calls wait for its grant. */
        boolean isForWaiters() {
            return claim.head().queues() && claim.head().weight() > 0;
        }

        void complete(Holding holding) {
            answers.forEach(a -> Mailbox.run(() -> a.complete(holding)));
        }

        @Override
        public void fail(Throwable failure) {
            answers.forEach(a -> Mailbox.run(() -> a.completeExceptionally(failure)));
        }

        /** A claim that the layer repeats by itself has no answers, and is never abandoned. */
        @Override
        public boolean isAbandoned() {
            return !answers.isEmpty() && answers.stream().allMatch(CompletableFuture::isDone);
        }
    }

    /**
     * Anything else: it ends without a holding.
     *
     * @param kind what it is
     * @param limit the operator's limit to set, or none to lift it; for {@link Kind#LIFT} the one that is lifted
     * @param done ends with it
     */
    record Task(Kind kind, OverrideLimit limit, CompletableFuture<Void> done) implements KeyRequest {

        /** A task whose end no caller waits for. */
        static Task of(Kind kind) {
            return new Task(kind, OverrideLimit.empty(), new CompletableFuture<>());
        }

        void complete() {
            done.complete(null);
        }

        @Override
        public void waitForSession(long seconds) {
            done.orTimeout(seconds, TimeUnit.SECONDS);
        }

        @Override
        public void fail(Throwable failure) {
            Mailbox.run(() -> done.completeExceptionally(failure));
        }

        @Override
        public boolean isAbandoned() {
            return done.isDone();
        }
    }

    /** The kinds of {@link Task}. */
    enum Kind {
        /** Sets or lifts the operator's limit. */
        OVERRIDE,
        /** Lifts the operator's limit if it is still this one. */
        LIFT,
        /** Removes the member's record and serves the queue with what it held. */
        REMOVAL,
        /** Reads the key and serves the queue if that is due. */
        CHECK
    }
}
