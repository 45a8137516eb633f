package io.github.distributedpermit.spi.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.snapshot.KeyRequest.ClaimRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class UnknownOutcomeTest {

    @Test
    void repeatedClaimKeepsTheArrivalOfItsWaiter() {
        Claim claim = new Claim(
                "key",
                1,
                Duration.ofSeconds(15),
                new Claim.Counts(1, 1, 1),
                new Claim.Head(1, Duration.ofSeconds(5), true),
                new Claim.Reclaim(0, 0, false, 0),
                new Claim.Shown(0));
        long now = TimeUnit.SECONDS.toNanos(100);
        UnknownOutcome unknown = new UnknownOutcome();
        unknown.failed(ClaimRequest.of(claim, now, new CompletableFuture<>()));
        ClaimRequest due = unknown.due(now + TimeUnit.SECONDS.toNanos(2), now);
        assertThat(due).isNotNull();
        assertThat(due.arrival()).isEqualTo(TimeUnit.SECONDS.toNanos(95));
        assertThat(due.answers()).isEmpty();
    }
}
