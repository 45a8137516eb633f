package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.KeyState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Operators who inspect many keys do not keep claims from being sent. */
class InspectionsBesideClaimsTest {

    private static final int KEYS = 200;

    @Test
    void aClaimIsSentWhileManyInspectionsHaveNoAnswer() {
        CountDownLatch gate = new CountDownLatch(1);
        try (ConsulFront front = new ConsulFront(SharedConsul.get().address());
                Bench bench = new Bench(front.address(), SharedConsul.get().probe())) {
            TestMember a = bench.member(bench.settings(ConsulLayout.SLOTS, Duration.ofSeconds(20)));
            a.queue("busy", 1, 1);
            front.hold("/txn", gate);
            long before = transactions(front);

            List<CompletableFuture<KeyState>> inspections = new ArrayList<>();
            for (int i = 0; i < KEYS; i++) {
                inspections.add(a.store().inspect("key-" + i).toCompletableFuture());
            }
            await().until(() -> transactions(front) - before >= 8);
            CompletableFuture<Holding> claim = a.ask("other", 1, 1, 1);
            await().until(() -> transactions(front) - before >= 9);
            assertThat(transactions(front) - before).isLessThan(20);

            gate.countDown();
            assertThat(TestMember.answer(claim).permits()).isEqualTo(1);
            CompletableFuture.allOf(inspections.toArray(CompletableFuture<?>[]::new))
                    .join();
        } finally {
            gate.countDown();
        }
    }

    private static long transactions(ConsulFront front) {
        return front.requests().stream()
                .filter(request -> request.contains("/txn"))
                .count();
    }
}
