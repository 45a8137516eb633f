package io.github.distributedpermit.benchmark.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.fleet.Stores;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CrowdTest {

    private static final Duration HOLD = Duration.ofMillis(1);
    private static final Duration SETTLE = Duration.ofMillis(500);
    private static final Duration LENGTH = Duration.ofSeconds(2);

    static Crowd[] crowds() {
        return new Crowd[] {new AsyncCrowd(), new ThreadCrowd()};
    }

    @ParameterizedTest
    @MethodSource("crowds")
    void everyCallOfTheLocalBackendEntersWithinTheLimit(Crowd crowd) throws Exception {
        try (Contender ours = Cast.make(Cast.LOCAL, Stores.none())) {
            Gate gate = ours.gate("crowd", 3);
            gate.leave(gate.enter()); // the first call loads classes
            CrowdResult result = crowd.run(gate, 50, 3, HOLD, SETTLE, LENGTH);
            assertThat(result.violations()).isZero();
            assertThat(result.failed()).isZero();
            assertThat(result.perSecond()).isPositive();
            assertThat(result.mean()).isPositive();
            assertThat(result.slow()).isLessThanOrEqualTo(result.longest());
        }
    }

    @ParameterizedTest
    @MethodSource("crowds")
    void allCallsEndWhoseHeapWasMeasured(Crowd crowd) throws Exception {
        try (Contender ours = Cast.make(Cast.LOCAL, Stores.none())) {
            Gate gate = ours.gate("heap", 3);
            crowd.bytesEach(gate, 50, 3); // so few calls are less than what the rest of the tests leaves to collect
            for (int i = 0; i < 3; i++) {
                assertThat(gate.enterLater()).succeedsWithin(Duration.ofSeconds(20));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("crowds")
    void callsBeyondTheLimitAreViolations(Crowd crowd) throws Exception {
        assertThat(crowd.run(new OpenGate(), 50, 3, HOLD, SETTLE, LENGTH).violations())
                .isPositive();
    }

    @Test
    void oneWaitOfAThousandIsLongerThanTheSlowOne() {
        long[] waits = new long[1001];
        waits[999] = 7;
        waits[1000] = 94;
        CrowdResult result = CrowdResult.of(waits, Duration.ofSeconds(2), 0, 0);
        assertThat(result.slow()).isEqualTo(7);
        assertThat(result.longest()).isEqualTo(94);
        assertThat(result.perSecond()).isEqualTo(500.5);
    }

    @Test
    void nothingIsKnownWithoutWaits() {
        assertThat(CrowdResult.of(new long[0], LENGTH, 0, 0).longestByMean()).isNaN();
    }

    /** Limits nothing. */
    private static final class OpenGate implements Gate {

        private static final Object PASS = new Object();

        @Override
        public Object enter() {
            return PASS;
        }

        @Override
        public void leave(Object pass) {
            // there is nothing to return
        }

        @Override
        public CompletionStage<Object> enterLater() {
            return CompletableFuture.completedFuture(PASS);
        }

        @Override
        public void leaveLater(Object pass) {
            // there is nothing to return
        }
    }
}
