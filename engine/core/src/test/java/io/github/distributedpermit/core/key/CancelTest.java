package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;

/** Calls that give up leak nothing, at whatever moment they do. */
class CancelTest {

    private final Bench bench = new Bench();
    private final Party a = bench.member("a", 1);

    @Test
    void aTimeOutEndsTheWaitNeitherEarlyNorLate() {
        bench.member("b", 1).hold();
        Asked call = a.acquire(Duration.ofMillis(100));
        bench.run(Duration.ofMillis(100).minusNanos(1));
        assertThat(call.isWaiting()).isTrue();
        bench.time.run(1);
        assertThat(call.failure()).isInstanceOf(PermitRejectedException.class);
    }

    @Test
    void aTimeOutOfZeroIsATry() {
        Asked call = a.acquire(Duration.ZERO);
        bench.runMillis(1);
        assertThat(call.holds()).isTrue();
    }

    @Test
    void aHugeTimeOutIsAsGoodAsNone() {
        bench.member("b", 1).hold();
        Asked call = a.acquire(Duration.ofSeconds(Long.MAX_VALUE));
        bench.run(Duration.ofMinutes(1));
        assertThat(call.isWaiting()).isTrue();
    }

    @Test
    void aCallCancelledAtAnyMomentLeaksNothing() {
        // the grant arrives after one millisecond; the calls give up in steps of 50 us around it
        for (int step = 0; step < 60; step++) {
            Asked call = a.acquire();
            bench.time.run(step * 50_000L);
            boolean granted = !call.isWaiting();
            call.future.cancel(false);
            if (granted) {
                assertThat(call.permit().isHeld()).isTrue();
                call.release();
            } else {
                assertThat(call.failure()).isInstanceOf(CancellationException.class);
            }
            bench.run(Duration.ofSeconds(4));
            assertThat(bench.used()).as("after %d steps", step).isZero();
            assertThat(a.engine.keys()).isZero();
        }
    }

    @Test
    void aCallThatTimesOutAtAnyMomentLeaksNothing() {
        for (int step = 1; step < 60; step++) {
            Asked call = a.acquire(Duration.ofNanos(step * 50_000L));
            bench.runMillis(4);
            if (call.failure() == null) {
                call.release();
            }
            bench.run(Duration.ofSeconds(4));
            assertThat(bench.used()).as("after %d steps", step).isZero();
        }
    }

    @Test
    void theNextInLineGetsWhatACancelledCallWasAboutToGet() {
        Party b = bench.member("b", 1);
        Asked holder = b.acquire();
        bench.runMillis(2);
        Asked first = a.acquire();
        Asked second = a.acquire();
        bench.runMillis(2);
        holder.release();
        bench.time.run(700_000);
        first.future.cancel(false);
        bench.runMillis(2);
        assertThat(second.holds()).isTrue();
    }

    @Test
    void cancellingAStageThatFollowsLeavesTheCallAlone() {
        Asked call = a.acquire();
        call.future.thenApply(permit -> permit).cancel(false);
        bench.runMillis(2);
        assertThat(call.holds()).isTrue();
    }
}
