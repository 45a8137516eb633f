package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LIMIT;
import static io.github.distributedpermit.sample.it.Fleet.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One instance held all permits, one more call than there are permits waited in the other, and the first was killed.
 *
 * @param killedAt when
 * @param startedAt when each of the waiting calls, all of which were served, really began
 */
record Recovery(Instant killedAt, List<Instant> startedAt) {

    /** So short that the first call shows whether the lease of the test was applied, or the default one of 15 s. */
    private static final Duration NOISE = Duration.ofSeconds(8);

    /** A busy machine may delay one of several calls for longer. */
    private static final Duration NOISE_OF_ALL = Duration.ofSeconds(40);

    static Recovery of(SampleInstance doomed, SampleInstance other) {
        List<CompletableFuture<Answer>> lost = Fleet.exportAt(doomed, LIMIT, "60s");
        await().atMost(LONG).until(() -> doomed.gauge("holders") == LIMIT);
        List<CompletableFuture<Answer>> waiting = Fleet.exportAt(other, LIMIT + 1, "100ms");
        await().atMost(LONG).until(() -> other.gauge("waiters") == LIMIT + 1);

        Instant killedAt = Instant.now();
        doomed.kill();

        List<Answer> served = Fleet.join(waiting);
        assertThat(served).extracting(Answer::status).containsOnly(200);
        List<Execution> executions = Fleet.executions(served);
        assertThat(Execution.mostAtOnce(executions)).isLessThanOrEqualTo(LIMIT);
        assertThat(lost).allMatch(CompletableFuture::isCompletedExceptionally);
        Fleet.awaitDrained(other);
        return new Recovery(
                killedAt, executions.stream().map(Execution::startedAt).toList());
    }

    /** The permits were available within this time of the kill, but for the load of other tests. */
    void assertWithin(Duration time) {
        Instant latest = killedAt.plus(time);
        assertThat(startedAt)
                .allSatisfy(each -> assertThat(each).isBetween(killedAt, latest.plus(NOISE_OF_ALL)))
                .anySatisfy(each -> assertThat(each).isBefore(latest.plus(NOISE)));
    }
}
