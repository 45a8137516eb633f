package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One claim, or several that came while another was on its way: see {@link Claim#mergedWith}.
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

    /** @param gone the highest sequence of a claim that has been sent */
    Request followedBy(Request next, long gone) {
        Claim both = claim.mergedWith(next.claim, gone);
        List<CompletableFuture<Holding>> all = new ArrayList<>(next.answers);
        answers.stream().filter(a -> !a.isDone()).forEach(all::add);
        return new Request(both, both.sequence() == claim.sequence() ? arrival : next.arrival, all);
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
