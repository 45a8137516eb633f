package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import io.github.distributedpermit.spi.PermitGauges;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An operator pauses all calls of a name, or of an application. */
class PauseOfNameTest {

    /** A third of the lease and the answers: until then all instances have seen a change. */
    private static final Duration BOUND = Bench.LEASE.dividedBy(3).plusMillis(10);

    private static final String PAUSE = Pause.ofName(Bench.KEY);

    private final Bench bench = new Bench();

    private Party member(String id, String application) {
        Party party = bench.member(
                id, Map.of(Bench.KEY, Bench.limit(2), "other", Bench.limit(2)), CoreSettings.DEFAULTS, Observers.NONE);
        party.engine.obeyPauses(application);
        return party;
    }

    private Party member(String id) {
        return member(id, "shop");
    }

    private void pause(Party party, String pause) {
        party.engine.pause(pause, OverrideLimit.of(0, "anna", "the partner is down"), Duration.ZERO);
    }

    private void resume(Party party, String pause) {
        party.engine.pause(pause, OverrideLimit.empty(), Duration.ZERO);
    }

    private static Reason reason(Asked asked) {
        return ((PermitRejectedException) Objects.requireNonNull(asked.failure())).reason();
    }

    @Test
    void noInstanceServesWaitingOrNewCallsUntilThePauseEnds() {
        Party a = member("a");
        Party b = member("b");
        Asked running = a.acquire();
        Asked second = a.acquire();
        bench.runMillis(3);
        Asked waiting = b.acquire();
        bench.runMillis(3);
        pause(a, PAUSE);
        bench.run(BOUND);

        running.release();
        Asked later = a.acquire();
        Asked ofOtherKey = b.acquireOf("a key that was never used", Duration.ofHours(1));
        bench.run(BOUND);
        assertThat(second.holds()).as("running calls go on").isTrue();
        assertThat(Stream.of(waiting, later, ofOtherKey).allMatch(Asked::isWaiting))
                .isTrue();
        assertThat(bench.used()).isEqualTo(1);
        assertThat(a.lastClaim().counts().wanted()).as("nothing is asked for").isEqualTo(1);
        assertThat(b.engine.calls(Bench.KEY, 10)).extracting(CallView::state).containsExactly(CallView.State.WAITING);
        assertThat(b.engine.keysInUse(Bench.KEY)).containsExactlyInAnyOrder(Bench.KEY, "a key that was never used");

        resume(b, PAUSE);
        bench.run(BOUND);
        assertThat(waiting.holds()).as("the call that has waited for longer").isTrue();
        assertThat(ofOtherKey.holds()).isTrue();
        assertThat(later.isWaiting()).isTrue();
        waiting.release();
        bench.runMillis(10);
        assertThat(later.holds()).isTrue();
        assertThat(bench.used()).isEqualTo(2);
    }

    @Test
    void callsEndAsForAPausedKey() {
        Party a = member("a");
        a.acquire();
        bench.runMillis(3);
        pause(a, PAUSE);
        Asked notWaiting = a.tryAcquire();
        Asked patient = a.acquire(Duration.ofMillis(100));
        Asked cancelled = a.acquire();
        cancelled.future.cancel(true);
        bench.runMillis(200);
        assertThat(reason(notWaiting)).isEqualTo(Reason.LIMIT_REACHED);
        assertThat(reason(patient)).isEqualTo(Reason.TIMED_OUT);
        assertThat(patient.failure()).hasMessageContaining("limit 0 (an operator has paused all calls");
        assertThat(a.engine.calls(Bench.KEY, 10)).extracting(CallView::state).containsExactly(CallView.State.HOLDING);
        assertThat(a.engine.gauges(Bench.KEY).map(PermitGauges::limit)).hasValue(0);
        assertThat(a.engine.named(Bench.KEY).state(Bench.KEY).limit()).isZero();
    }

    @Test
    void freshInstanceAsksForNothingBeforeItKnowsThePause() {
        pause(member("operator"), PAUSE);
        Party fresh = member("fresh");
        Asked first = fresh.acquire();
        Asked notWaiting = fresh.tryAcquire();
        Asked other = new Asked(fresh.engine.named("other").acquireAsync(PermitRequest.of("other")));
        bench.run(BOUND);
        assertThat(first.isWaiting()).isTrue();
        assertThat(reason(notWaiting)).isEqualTo(Reason.LIMIT_REACHED);
        assertThat(other.holds()).isTrue();
        assertThat(fresh.link.claims)
                .noneMatch(
                        claim -> claim.key().equals(Bench.KEY) && claim.counts().wanted() > 0);
    }

    @Test
    void nameThatSharesTheKeyGoesOn() {
        Party a = member("a");
        Asked running = a.acquire(2);
        bench.runMillis(3);
        Asked paused = a.acquire();
        Asked other = new Asked(a.engine.named("other").acquireAsync(PermitRequest.of(Bench.KEY)));
        pause(a, PAUSE);
        running.release();
        bench.run(BOUND);
        assertThat(other.holds()).isTrue();
        assertThat(paused.isWaiting()).isTrue();
    }

    @Test
    void applicationIsPausedAndOthersGoOn() {
        Party shop = member("shop", "shop");
        Party billing = member("billing", "billing");
        Asked before = shop.acquire();
        bench.runMillis(3);
        before.release();
        pause(billing, Pause.ofApplication("shop"));
        bench.run(BOUND);
        Asked ofShop = shop.acquire();
        Asked ofBilling = billing.acquire();
        bench.runMillis(10);
        assertThat(ofShop.isWaiting()).isTrue();
        assertThat(ofBilling.holds()).isTrue();
        resume(shop, Pause.ofApplication("shop"));
        bench.runMillis(10);
        assertThat(ofShop.holds()).as("the instance that ends it knows at once").isTrue();
    }

    @Test
    void pauseAppliesAlsoToAKeyWithALimitOfTheOperator() {
        Party a = member("a");
        bench.override(9);
        Asked first = a.acquire();
        bench.runMillis(3);
        pause(a, PAUSE);
        Asked second = a.acquire();
        bench.run(BOUND);
        assertThat(first.holds()).isTrue();
        assertThat(second.isWaiting()).isTrue();
        resume(a, PAUSE);
        bench.runMillis(10);
        assertThat(second.holds()).isTrue();
    }

    @Test
    void pausedCallsAreBoundedEndWithTheApplicationAndLeaveNothing() {
        CoreSettings few = CoreSettings.DEFAULTS.toBuilder()
                .permits(PermitSettings.builder().maxWaiting(3).build())
                .build();
        Party a = bench.member("a", Map.of(Bench.KEY, Bench.limit(1)), few, Observers.NONE);
        a.engine.obeyPauses("shop");
        pause(a, PAUSE);
        bench.run(BOUND);
        List<Asked> asked = IntStream.range(0, 5).mapToObj(i -> a.acquire()).toList();
        bench.runMillis(10);
        assertThat(asked.stream().filter(Asked::isWaiting)).hasSize(3);
        assertThat(reason(asked.get(4))).isEqualTo(Reason.QUEUE_FULL);
        asked.get(0).future.cancel(true);
        a.engine.shutdown();
        bench.run(BOUND);
        assertThat(reason(asked.get(1))).isEqualTo(Reason.SHUTTING_DOWN);
        assertThat(a.engine.keys()).isZero();
    }

    @Test
    void pauseThatCouldNotBeAnnouncedAtOnceComesIntoForceSoon() {
        Party a = member("a");
        Party b = member("b");
        Asked before = b.acquire();
        bench.runMillis(3);
        a.link.lostKey = Pause.CHANGES;
        CompletableFuture<Void> set =
                a.engine.pause(PAUSE, OverrideLimit.of(0), Duration.ZERO).toCompletableFuture();
        assertThat(set).isCompletedExceptionally();
        a.link.lostKey = null;
        bench.run(Bench.COMMAND.plus(BOUND));
        Asked after = b.acquire();
        bench.runMillis(3);
        assertThat(before.holds()).isTrue();
        assertThat(after.isWaiting()).isTrue();
    }

    @Test
    void pauseOfAnInstanceThatCrashesOnceItIsSetComesIntoForce() {
        Party a = member("a");
        Party b = member("b");
        Asked before = b.acquire();
        bench.runMillis(3);
        a.link.lastSet = PAUSE;
        pause(a, PAUSE);
        bench.run(BOUND);
        Asked after = b.acquire();
        bench.runMillis(3);
        assertThat(before.holds()).isTrue();
        assertThat(after.isWaiting()).isTrue();
    }

    @Test
    void callsThatArriveWhileStoreIsAwayFailAsUsualIfNothingIsKnown() {
        Party a = member("a");
        bench.conditions.claimsLost = true;
        Asked asked = a.acquire();
        bench.run(Bench.STORE_TIMEOUT.plus(Bench.COMMAND).plusSeconds(1));
        assertThat(asked.failure()).hasMessageContaining("The store of permits");
    }

    @Test
    void longPausedCallsWithHeadStartsAndGroupsAreServedOnceEach() {
        Party a = member("a");
        pause(a, PAUSE);
        bench.run(BOUND);
        List<Asked> asked = IntStream.range(0, 40)
                .mapToObj(i -> a.ask(PermitRequest.builder(Bench.KEY)
                        .headStart(Duration.ofSeconds(i % 3))
                        .fairBy("group " + i % 4)
                        .build()))
                .toList();
        for (int turn = 0; turn < 3; turn++) {
            resume(a, PAUSE);
            bench.run(BOUND);
            pause(a, PAUSE);
            bench.run(BOUND);
            asked.stream().filter(Asked::holds).toList().forEach(Asked::release);
        }
        resume(a, PAUSE);
        for (int turn = 0; turn < 40; turn++) {
            bench.runMillis(20);
            assertThat(asked.stream().filter(Asked::holds)).hasSizeLessThanOrEqualTo(2);
            asked.stream().filter(Asked::holds).toList().forEach(Asked::release);
        }
        assertThat(asked).noneMatch(Asked::isWaiting);
        bench.run(BOUND);
        assertThat(bench.used()).isZero();
    }
}
