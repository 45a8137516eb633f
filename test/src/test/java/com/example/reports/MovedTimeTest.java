package com.example.reports;

import static io.github.distributedpermit.test.PermitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.test.AutoConfigureDistributedPermit;
import io.github.distributedpermit.test.PermitClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** Time-outs and minimum holds without waiting for them. */
@Timeout(60)
@SpringBootTest(properties = {"distributed-permit.permits.archive.limit=1", "distributed-permit.lease=15s"})
@AutoConfigureDistributedPermit(movableClock = true)
class MovedTimeTest {

    @Autowired
    ReportService service;

    @Autowired
    Permits permits;

    @Autowired
    PermitClock clock;

    @Test
    void callThatWaitsIsRejectedAtItsTimeOut() throws InterruptedException {
        Permit permit = permits.acquire("archive");
        CompletableFuture<String> call = CompletableFuture.supplyAsync(() -> {
            try {
                return service.archive(); // waits 30 seconds at most
            } catch (InterruptedException e) {
                throw new CompletionException(e);
            }
        });
        await().untilAsserted(() -> assertThat(permits).hasWaiting(1));

        clock.advance(Duration.ofSeconds(29));
        assertThat(permits).hasWaiting(1);

        clock.advance(Duration.ofSeconds(1));
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(call::join)
                .withCauseInstanceOf(PermitRejectedException.class);
        permit.release();
    }

    @Test
    void callThatWaitsWithoutAThreadIsRejectedAtItsTimeOut() throws InterruptedException {
        try (Permit permit = permits.acquire("archive")) {
            CompletableFuture<Permit> call = permits.named("archive")
                    .acquireAsync(PermitRequest.builder("archive")
                            .timeout(Duration.ofSeconds(30))
                            .build());
            clock.advance(Duration.ofSeconds(29));
            assertThat(call).isNotDone();
            clock.advance(Duration.ofSeconds(1));
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(call::join)
                    .withCauseInstanceOf(PermitRejectedException.class);
            assertThat(permit.isHeld()).as("its lease was renewed meanwhile").isTrue();
        }
        assertThat(permits).hasRejected(1).hasReleasedAll();
    }

    @Test
    void jobKeepsItsPermitForTenSeconds() {
        service.nightly();
        service.nightly(); // finds the permit held, and is rejected
        assertThat(permits).ofKey("nightly").holds(1).hasRejected(1);

        clock.advance(Duration.ofSeconds(10));
        assertThat(permits).ofKey("nightly").hasReleasedAll();
        service.nightly();
        assertThat(permits).ofKey("nightly").hasRejected(1);

        clock.advance(Duration.ofSeconds(10));
    }

    @Test
    void whatIsDueRunsInItsOrderAndSeesItsTime() {
        List<String> order = new ArrayList<>();
        long start = clock.nanoTime();
        Runnable never = clock.schedule(() -> order.add("cancelled"), 2_000);
        clock.schedule(() -> order.add("second at " + (clock.nanoTime() - start)), 3_000);
        clock.schedule(
                () -> {
                    order.add("first at " + (clock.nanoTime() - start));
                    clock.schedule(() -> order.add("third at " + (clock.nanoTime() - start)), 4_000);
                },
                1_000);
        never.run();

        clock.advance(Duration.ofNanos(4_999));
        assertThat(order).containsExactly("first at 1000", "second at 3000");
        clock.advance(Duration.ofNanos(1));
        assertThat(order).hasSize(3).last().isEqualTo("third at 5000");
    }

    @Test
    void whatIsDueAtOnceDoesNotWaitForTheClock() {
        CompletableFuture<String> thread = new CompletableFuture<>();
        clock.schedule(() -> thread.complete(Thread.currentThread().getName()), 0);
        assertThat(thread.join()).isNotEqualTo(Thread.currentThread().getName());
    }
}
