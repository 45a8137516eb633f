package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How a process leaves. */
class ShutdownTest {

    private final Bench bench = new Bench();
    private final Party a = bench.member("a", 1);

    private static void assertShuttingDown(Asked call) {
        assertThat(call.failure())
                .isInstanceOfSatisfying(
                        PermitRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.SHUTTING_DOWN));
    }

    private CompletableFuture<Void> shutdown() {
        return a.engine.shutdown().toCompletableFuture();
    }

    @Test
    void anEngineWithoutWorkIsDoneAtOnce() {
        assertThat(shutdown()).isCompleted();
    }

    @Test
    void waitersAreRejectedAndHoldersGoOn() {
        Permit permit = a.hold();
        Asked waiter = a.acquire();
        bench.runMillis(2);
        CompletableFuture<Void> done = shutdown();
        assertShuttingDown(waiter);
        bench.run(Duration.ofSeconds(60));
        assertThat(permit.isHeld()).isTrue();
        assertThat(done).isNotDone();
        permit.release();
        assertThat(done).isNotDone();
        bench.runMillis(2);
        assertThat(done).isCompleted();
        assertThat(bench.used()).isZero();
        assertThat(a.engine.keys()).isZero();
        bench.run(Bench.COMMAND);
        assertThat(bench.time.pending()).isZero();
    }

    @Test
    void laterCallGetsAFreePermitAndReturnsItAtOnce() {
        shutdown();
        Asked late = a.acquire();
        bench.runMillis(2);
        assertThat(late.holds()).isTrue();
        late.release();
        bench.runMillis(2);
        assertThat(bench.used()).isZero();
        assertThat(a.engine.keys()).isZero();
    }

    @Test
    void laterCallDoesNotWaitForAPermit() {
        Permit held = bench.member("b", 1).hold();
        shutdown();
        Asked patient = a.acquire();
        Asked timed = a.acquire(Duration.ofSeconds(1));
        Asked impatient = a.tryAcquire();
        bench.runMillis(3);
        assertShuttingDown(patient);
        assertShuttingDown(timed);
        assertThat(impatient.failure())
                .isInstanceOfSatisfying(
                        PermitRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.LIMIT_REACHED));
        held.release();
        bench.runMillis(2);
        assertThat(bench.used()).isZero();
        assertThat(a.engine.keys()).isZero();
    }

    @Test
    void callWhoseClaimIsUnansweredAtTheShutdownGetsAFreePermit() {
        Asked sent = a.acquire();
        Asked second = a.acquire();
        shutdown();
        bench.runMillis(3);
        assertThat(sent.holds()).isTrue();
        assertShuttingDown(second);
    }

    @Test
    void laterCallDoesNotOvertakeThoseThatWaitElsewhere() {
        Permit held = bench.member("b", 1).hold();
        Asked waiting = bench.member("c", 1).acquire();
        bench.runMillis(2);
        shutdown();
        held.release();
        Asked late = a.acquire();
        bench.runMillis(3);
        assertThat(waiting.holds()).isTrue();
        assertShuttingDown(late);
    }

    @Test
    void laterCallOfAnInstanceThatIsDrainedIsRejectedAlsoForAKeyThatNoCallUses() {
        a.engine.drain();
        shutdown();
        assertShuttingDown(a.acquire());
        assertShuttingDown(a.tryAcquire());
        assertShuttingDown(a.acquire(Duration.ofSeconds(1)));
        assertThat(a.claims()).isZero();
        assertThat(a.engine.keys()).isZero();
    }

    @Test
    void eachWaitForTheEndWaitsForTheCallsThatHoldPermitsThen() {
        assertThat(shutdown()).isCompleted();
        Asked late = a.acquire();
        bench.runMillis(2);
        CompletableFuture<Void> second = shutdown();
        bench.run(Bench.COMMAND.multipliedBy(2));
        assertThat(second).isNotDone();
        late.release();
        bench.runMillis(2);
        assertThat(second).isCompleted();
    }

    @Test
    void callThatBeginsWhileTheStoreHasItsTimeToConfirmAReturnIsWaitedFor() throws Exception {
        Permit permit = a.hold();
        a.engine.changeSettings(
                PermitSettings.NONE,
                Map.of(Bench.KEY, Bench.limit(1), "free", PermitSettings.ofLimit(PermitDefinition.UNLIMITED)));
        bench.conditions.refusing = true;
        CompletableFuture<Void> done = shutdown();
        permit.release();
        bench.run(Bench.COMMAND.minusMillis(10));
        Permit late = a.engine.named("free").acquire("free");
        bench.run(Bench.COMMAND);
        assertThat(done).isNotDone();
        late.release();
        bench.run(Bench.COMMAND.plusMillis(10));
        assertThat(done).isCompleted();
    }

    @Test
    void theLineOfAProcessThatLeavesIsLeftInTheStoreToo() {
        Party b = bench.member("b", 1);
        Permit permit = b.hold();
        a.acquire();
        bench.runMillis(2);
        Asked third = bench.member("c", 1).acquire();
        bench.runMillis(2);
        shutdown();
        bench.runMillis(2);
        permit.release();
        bench.time.run(1_000_001);
        assertThat(third.holds()).isTrue();
    }

    @Test
    void aLingeringPermitIsReturnedAtOnce() {
        Party lingering = bench.member("l", 1, Bench.linger(Duration.ofSeconds(5)));
        lingering.hold().release();
        bench.runMillis(2);
        assertThat(bench.used()).isEqualTo(1);
        CompletableFuture<Void> done = lingering.engine.shutdown().toCompletableFuture();
        bench.runMillis(2);
        assertThat(bench.used()).isZero();
        assertThat(done).isCompleted();
    }

    @Test
    void aStoreThatIsAwayHoldsShutdownUpForOneCommandTimeOut() {
        Permit permit = a.hold();
        bench.conditions.refusing = true;
        CompletableFuture<Void> done = shutdown();
        permit.release();
        bench.run(Bench.COMMAND.minusMillis(10));
        assertThat(done).isNotDone();
        bench.runMillis(20);
        assertThat(done).isCompleted();
    }

    @Test
    void aGrantPushedWhileShuttingDownGoesBack() {
        a.hold().release();
        bench.run(Duration.ofSeconds(60));
        bench.network.server.refresh(Bench.KEY);
        Asked other = bench.member("b", 1, Bench.bounded(10, 10)).acquire();
        bench.runMillis(2);
        other.release();
        bench.runMillis(2);
        shutdown();
        a.link.push(Bench.KEY, bench.network.server.claim("a", a.link.claims.get(0)));
        bench.run(Duration.ofSeconds(3));
        assertThat(bench.used()).isZero();
        assertThat(a.engine.keys()).isZero();
    }

    @Test
    void permitThatIsHeldWhenTheProcessLeavesIsLostWithItsLease() {
        AtomicInteger losses = new AtomicInteger();
        Permit permit = a.hold();
        permit.onLoss(losses::incrementAndGet);
        a.engine.close();
        bench.run(Bench.LEASE.multipliedBy(9).dividedBy(10));
        assertThat(permit.isHeld()).isTrue();
        assertThat(losses).hasValue(0);
        bench.run(Bench.LEASE.dividedBy(10));
        assertThat(losses).hasValue(1);
        assertThat(permit.release()).isFalse();
    }

    @Test
    void closingReturnsWhatIsIdleAndStopsRenewal() {
        Permit permit = a.hold();
        a.engine.close();
        long claims = a.claims();
        assertThat(permit.isHeld()).as("the store keeps it for its lease").isTrue();
        bench.run(Duration.ofMinutes(1));
        assertThat(a.claims()).isEqualTo(claims);
        assertThat(bench.time.pending()).isZero();
        permit.release();
        assertThat(permit.isHeld()).isFalse();
        assertShuttingDown(a.acquire());
    }
}
