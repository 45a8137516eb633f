package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.consulserver.SharedConsul;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * An application whose calls wait for permits on the common pool, such as those of a parallel stream, until none of its threads
 * is left. The answers of Consul, which could end their wait, must not need that pool.
 */
class BlockedCommonPoolTest {

    private final Bench bench =
            new Bench(SharedConsul.get().address(), SharedConsul.get().probe());
    private final CountDownLatch end = new CountDownLatch(1);

    @AfterEach
    void leave() {
        end.countDown();
        bench.close();
    }

    @Test
    void claimIsAnsweredWhileNoThreadOfTheCommonPoolIsFree() throws InterruptedException {
        int threads = ForkJoinPool.getCommonPoolParallelism();
        assertThat(threads).as("see the argLine of the parent's pom.xml").isGreaterThan(1);
        CountDownLatch blocked = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            ForkJoinPool.commonPool().execute(() -> {
                blocked.countDown();
                awaitEnd();
            });
        }
        assertThat(blocked.await(20, TimeUnit.SECONDS)).isTrue();
        TestMember a = bench.member();
        assertThat(TestMember.answer(a.ask("blocked", 1, 1, 1)).permits()).isEqualTo(1);
    }

    private void awaitEnd() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
