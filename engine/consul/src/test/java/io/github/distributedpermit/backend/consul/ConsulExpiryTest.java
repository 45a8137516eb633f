package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.SharedConsul;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How long the dead are in the way, by the clock: with {@code -Dtests.excluded=none}. */
@Tag("slow")
class ConsulExpiryTest {

    private static final System.Logger LOG = System.getLogger(ConsulExpiryTest.class.getName());
    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration BOUND = TTL.multipliedBy(2).plusSeconds(5);

    @Test
    void permitsOfADeadHolderAndOfADeadWaiterThatWasServedComeBackWithinTwiceTheTtl() {
        try (Bench bench =
                new Bench(SharedConsul.get().address(), SharedConsul.get().probe())) {
            ConsulSettings settings = bench.settings(Optional.empty(), TTL);
            TestMember holder = bench.member(settings);
            TestMember alive = bench.member(settings);
            TestMember waiter = bench.member(settings);
            TestMember b = bench.member(settings);
            holder.queue("held", 1, 1);
            b.queue("held", 1, 1);
            alive.queue("served", 1, 1);
            waiter.queue("served", 1, 1);
            b.queue("served", 1, 1);
            holder.die();
            waiter.die();
            long died = System.nanoTime();
            alive.keep("served", 1, 0);
            assertThat(b.grants()).isEmpty();

            await().atMost(BOUND)
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> b.queue("held", 1, 1).permits() == 1);
            report("A dead holder's permit", died);
            await().atMost(BOUND)
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> b.queue("served", 1, 1).permits() == 1);
            report("A permit that a dead waiter was given", died);
            assertThat(b.signs()).as("its session was renewed meanwhile").isGreaterThan(3);
            assertThat(b.losses()).isZero();
        }
    }

    private static void report(String what, long since) {
        LOG.log(
                System.Logger.Level.INFO,
                "{0} was back after {1} ms",
                what,
                Duration.ofNanos(System.nanoTime() - since).toMillis());
    }
}
