package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One claim, or several that came while another was on its way: the last counts, and leaves the store as little as the
 * least of them.
 *
 * @param claim what is to be sent
 * @param arrival when the oldest waiter of the last one came, on the monotonic clock
 * @param answers who waits for it
 */
record Request(Claim claim, long arrival, List<CompletableFuture<Holding>> answers) {

    static Request of(Claim claim, long now, CompletableFuture<Holding> answer) {
        return new Request(claim, now - claim.waited().toNanos(), List.of(answer));
    }

    /** A claim nobody waits for any more. */
    static Request again(Claim claim, long now) {
        return new Request(claim, now, List.of());
    }

    Request followedBy(Request next) {
        Claim last = next.claim;
        int held = Math.min(claim.held(), last.held());
        Claim merged = new Claim(
                last.key(),
                last.limit(),
                last.sequence(),
                held,
                last.wanted(),
                last.unit(),
                last.waited(),
                last.lease(),
                last.queue());
        List<CompletableFuture<Holding>> all = new ArrayList<>(next.answers);
        answers.stream().filter(a -> !a.isDone()).forEach(all::add);
        return new Request(merged, next.arrival, all);
    }

    boolean isAbandoned() {
        return !answers.isEmpty() && answers.stream().allMatch(CompletableFuture::isDone);
    }

    void complete(Holding holding) {
        answers.forEach(a -> a.complete(holding));
    }

    void fail(Throwable failure) {
        answers.forEach(a -> a.completeExceptionally(failure));
    }
}
