package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long a permit is valid, and how its loss is reported. */
class LeaseTest {

    private static final Duration VALID = Bench.LEASE.minus(Bench.LEASE.dividedBy(Policy.MARGIN));

    private final Bench bench = new Bench();
    private final List<String> told = new ArrayList<>();

    @Test
    void aPermitIsValidFromItsAnswerUntilTheLeaseEndsLessTheMargin() {
        Permit permit = bench.member("a", 1).hold();
        bench.conditions.claimsLost = true;
        // it was sent 2 ms ago
        bench.run(VALID.minusMillis(2).minusNanos(1));
        assertThat(permit.isHeld()).isTrue();
        bench.time.run(1);
        assertThat(permit.isHeld()).isFalse();
    }

    @Test
    void validityIsMeasuredFromWhenTheClaimWasSent() {
        bench.conditions.delay = 900 * Weather.MILLI;
        Asked call = bench.member("a", 1).acquire();
        bench.runMillis(1_801);
        Permit permit = call.permit();
        bench.conditions.claimsLost = true;
        bench.run(VALID.minusMillis(1_802));
        assertThat(permit.isHeld()).isTrue();
        bench.runMillis(1);
        assertThat(permit.isHeld()).isFalse();
    }

    @Test
    void lossIsToldOnceAndReleasingAfterwardsChangesNothing() {
        Party a = bench.member("a", 1);
        Permit permit = a.hold();
        permit.onLoss(() -> told.add("lost"));
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE);
        assertThat(told).containsExactly("lost");
        permit.onLoss(() -> told.add("later"));
        assertThat(told).containsExactly("lost", "later");
        bench.conditions.claimsLost = false;
        bench.run(Duration.ofSeconds(5));
        Permit other = bench.member("b", 1).hold();
        permit.release();
        bench.runMillis(5);
        assertThat(other.isHeld()).isTrue();
        assertThat(bench.used()).isEqualTo(1);
        assertThat(told).hasSize(2);
    }

    @Test
    void callThatRunsWithoutItsPermitIsShownUntilItEnds() {
        Party a = bench.member("a", 3);
        Permit first = a.hold();
        bench.runMillis(10);
        Permit second = a.hold();
        assertThat(a.engine.calls(Bench.KEY, 1))
                .singleElement()
                .satisfies(call -> assertThat(call.age()).as("the oldest stays").isGreaterThan(Duration.ofMillis(9)));
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE.multipliedBy(3));
        assertThat(a.engine.calls(Bench.KEY, 10)).hasSize(2).allSatisfy(call -> {
            assertThat(call.state()).isEqualTo(CallView.State.LOST);
            assertThat(call.age()).isGreaterThanOrEqualTo(Bench.LEASE);
        });
        assertThat(a.engine.keysInUse(Bench.KEY)).containsExactly(Bench.KEY);
        assertThat(a.engine.gauges(Bench.KEY).orElseThrow().runningLost()).isEqualTo(2);
        assertThat(a.engine.gauges(Bench.KEY).orElseThrow().holders()).isZero();
        bench.conditions.claimsLost = false;
        bench.run(Duration.ofSeconds(5));
        Permit third = a.hold();
        assertThat(a.engine.calls(Bench.KEY, 10))
                .extracting(CallView::state)
                .containsExactly(CallView.State.LOST, CallView.State.LOST, CallView.State.HOLDING);
        first.release();
        second.release();
        third.release();
        bench.run(Duration.ofSeconds(2));
        assertThat(a.engine.calls(Bench.KEY, 10)).isEmpty();
        assertThat(a.engine.keysInUse(Bench.KEY)).isEmpty();
        assertThat(a.engine.gauges(Bench.KEY).orElseThrow().runningLost()).isZero();
    }

    @Test
    void lostPermitThatNothingRefersToIsForgotten() {
        Party a = bench.member("a", 1);
        WeakReference<Permit> dropped = new WeakReference<>(a.hold());
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE.multipliedBy(3));
        await().until(() -> {
            System.gc();
            return dropped.get() == null;
        });
        assertThat(a.engine.calls(Bench.KEY, 10)).isEmpty();
    }

    @Test
    void aPermitReleasedInTimeIsNeverReportedLost() {
        Party a = bench.member("a", 1);
        Permit permit = a.hold();
        permit.onLoss(() -> told.add("lost"));
        bench.conditions.claimsLost = true;
        permit.release();
        bench.run(Bench.LEASE.multipliedBy(3));
        assertThat(told).isEmpty();
    }

    @Test
    void theNewestAreLostFirstWhenTheStoreHasFewer() {
        Party a = bench.member("a", 3);
        List<Permit> permits = List.of(a.hold(), a.hold(), a.hold());
        for (int i = 0; i < 3; i++) {
            String name = "permit " + i;
            permits.get(i).onLoss(() -> told.add(name));
        }
        bench.network.server.empty();
        bench.member("b", 3).hold();
        bench.run(Bench.LEASE.dividedBy(3));
        assertThat(told).containsExactly("permit 2");
        assertThat(permits.get(0).isHeld() && permits.get(1).isHeld()).isTrue();
        assertThat(permits.get(2).isHeld()).isFalse();
    }

    @Test
    void aHoldingIsClaimedAgainFromAStoreThatForgotIfThereIsRoom() {
        Party a = bench.member("a", 3);
        Permit permit = a.hold();
        bench.network.server.empty();
        bench.run(Bench.LEASE);
        assertThat(permit.isHeld()).isTrue();
        assertThat(bench.used()).isEqualTo(1);
    }

    @Test
    void aProcessStoppedBeyondTheLeaseHearsOfItsLossBeforeItRenews() {
        Party a = bench.member("a", 1);
        Permit permit = a.hold();
        permit.onLoss(() -> told.add("lost after " + a.claims() + " claims"));
        a.process.stop(Duration.ofSeconds(20).toNanos());
        bench.run(Duration.ofSeconds(16));
        Permit other = bench.member("b", 1).hold();
        assertThat(other.isHeld()).isTrue();
        assertThat(permit.isHeld()).isFalse();
        bench.run(Duration.ofSeconds(5));
        assertThat(told).hasSize(1);
        permit.release();
        bench.run(Duration.ofSeconds(5));
        assertThat(other.isHeld()).isTrue();
        assertThat(bench.used()).isEqualTo(1);
    }

    @Test
    void anAnswerTooLateForItsOwnLeaseCountsAsNone() {
        Party a = bench.member("a", 1, Bench.storeTimeout(Duration.ofHours(1)));
        Asked call = a.acquire();
        SentClaim claim = Peek.sent(state(a)).get(0);
        bench.conditions.answersLost = true;
        bench.run(VALID);
        claim.accept(
                new io.github.distributedpermit.spi.Holding(
                        1, 1, claim.sequence, 99, io.github.distributedpermit.spi.Holding.Others.NONE),
                null);
        assertThat(call.isWaiting()).isTrue();
        bench.conditions.answersLost = false;
        bench.run(Duration.ofSeconds(2));
        assertThat(call.holds()).isTrue();
    }

    @Test
    void anAnswerToAnEarlierClaimCountsButNeverBeyondWhatALaterClaimLeaves() {
        Party a = bench.member("a", 2);
        a.hold();
        Asked second = a.acquire();
        bench.runMillis(2);
        KeyQueueState state = state(a);
        Holding earlier = new Holding(state, 2);
        second.release();
        assertThat(state.ledger.granted()).isEqualTo(1);
        KeyQueue queue = Peek.queue(a.engine, Bench.KEY);
        assertThat(queue).isNotNull();
        queue.pushed(earlier.now());
        assertThat(state.ledger.granted()).isEqualTo(1);
        bench.runMillis(5);
        assertThat(bench.used()).isEqualTo(1);
    }

    /** What the store may still say of the last claim that was answered. */
    private record Holding(KeyQueueState state, int permits) {
        io.github.distributedpermit.spi.Holding now() {
            return new io.github.distributedpermit.spi.Holding(
                    permits,
                    2,
                    state.ledger.appliedSequence(),
                    Long.MAX_VALUE / 2,
                    io.github.distributedpermit.spi.Holding.Others.NONE);
        }
    }

    @Test
    void aLostPermitIsNoLongerCountedAmongTheHolders() {
        Party a = bench.member("a", 1);
        Permit permit = a.hold();
        assertThat(Peek.permit(a.engine, Bench.KEY).counts.holders()).isEqualTo(1);
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE);
        assertThat(Peek.permit(a.engine, Bench.KEY).counts.holders()).isZero();
        permit.release();
        assertThat(Peek.permit(a.engine, Bench.KEY).counts.holders()).isZero();
    }

    @Test
    void theObserverHearsOfALoss() {
        Party a = bench.member("a", 1, CoreSettings.DEFAULTS, Bench.observing(new PermitObserver() {
            @Override
            public void lost(PermitCall call) {
                told.add(call.observedName());
            }
        }));
        a.hold();
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE);
        assertThat(told).containsExactly(Bench.KEY);
    }

    @Test
    void tokensAreUniqueAndIncreaseAlongAPermit() {
        Party a = bench.member("a", 1);
        Party b = bench.member("b", 1);
        List<io.github.distributedpermit.PermitToken> tokens = new ArrayList<>();
        List<Asked> calls = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            calls.add((i % 3 == 0 ? b : a).acquire());
        }
        for (int i = 0; i < 500 && tokens.size() < 60; i++) {
            bench.runMillis(1);
            for (Asked call : List.copyOf(calls)) {
                if (!call.isWaiting()) {
                    tokens.add(call.permit().token());
                    call.release();
                    calls.remove(call);
                }
            }
        }
        assertThat(tokens).hasSize(60).doesNotHaveDuplicates().isSorted();
    }

    private static KeyQueueState state(Party party) {
        KeyQueueState state = Peek.state(party.engine, Bench.KEY);
        if (state == null) {
            throw new AssertionError("the key is not in use");
        }
        return state;
    }
}
