package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.testsupport.Logged;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.groups.Tuple;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Limits and settings that change while calls hold and wait. */
class LimitChangeTest {

    private final Bench bench = new Bench();

    @Test
    void aRaisedLimitServesWaitingCallsAtOnce() {
        Party a = bench.member("a", 1);
        Asked first = a.acquire();
        Asked second = a.acquire();
        Asked third = a.acquire();
        bench.runMillis(3);
        assertThat(second.isWaiting()).isTrue();
        a.engine.changeLimits(Map.of(Bench.KEY, 3));
        bench.runMillis(2);
        assertThat(first.holds() && second.holds() && third.holds()).isTrue();
        assertThat(bench.used()).isEqualTo(3);
        assertThat(a.engine.find(Bench.KEY).orElseThrow().limit()).isEqualTo(3);
        assertThat(Peek.permit(a.engine, Bench.KEY).counts.limit()).isEqualTo(3);
    }

    @Test
    void aLoweredLimitTakesNothingAwayAndServesNoCallUntilFewEnoughAreInUse() {
        Party a = bench.member("a", 3);
        Asked one = a.acquire();
        Asked two = a.acquire();
        Asked three = a.acquire();
        Asked waiting = a.acquire();
        bench.runMillis(3);
        try (Logged logged = new Logged(PermitName.class)) {
            a.engine.changeLimits(Map.of(Bench.KEY, 1));
            one.release();
            bench.runMillis(10);
            assertThat(two.holds() && three.holds()).isTrue();
            assertThat(waiting.isWaiting()).isTrue();
            two.release();
            bench.runMillis(10);
            assertThat(waiting.isWaiting()).isTrue();
            assertThat(bench.used()).isEqualTo(1);
            three.release();
            bench.runMillis(10);
            assertThat(waiting.holds()).isTrue();
            assertThat(bench.used()).isEqualTo(1);
            assertThat(logged.texts()).isEmpty();
        }
    }

    @Test
    void aLoweredLimitHoldsWhileTheStoreHasNotAnswered() {
        Party a = bench.member("a", 2);
        Asked one = a.acquire();
        Asked two = a.acquire();
        Asked waiting = a.acquire();
        bench.runMillis(3);
        bench.conditions.answersLost = true;
        a.engine.changeLimits(Map.of(Bench.KEY, 1));
        one.release();
        bench.runMillis(5);
        assertThat(waiting.isWaiting()).isTrue();
        assertThat(two.holds()).isTrue();
    }

    @Test
    void aMemberThatNeitherHoldsNorWaitsSendsNoClaim() {
        Party a = bench.member("a", 2);
        a.hold().release();
        bench.runMillis(5);
        long before = a.claims();
        a.engine.changeLimits(Map.of(Bench.KEY, 1));
        bench.runMillis(5);
        assertThat(a.claims()).isEqualTo(before);
        Asked one = a.acquire();
        Asked two = a.acquire();
        bench.runMillis(5);
        assertThat(one.holds()).isTrue();
        assertThat(two.isWaiting()).isTrue();
        assertThat(a.lastClaim().counts().limit()).isEqualTo(1);
    }

    @Test
    void withoutALimitWaitingCallsAreServedAndFurtherOnesDoNotAskTheStore() {
        Party a = bench.member("a", 1);
        Asked first = a.acquire();
        Asked second = a.acquire();
        bench.runMillis(3);
        a.engine.changeLimits(Map.of(Bench.KEY, PermitDefinition.UNLIMITED));
        assertThat(second.holds()).isTrue();
        bench.runMillis(5);
        long before = a.claims();
        Asked third = a.acquire(40);
        Asked fourth = a.tryAcquire();
        assertThat(third.holds() && fourth.holds()).isTrue();
        assertThat(third.permit().token().version()).isZero();
        assertThat(Peek.permit(a.engine, Bench.KEY).counts.holders()).isEqualTo(43);
        bench.runMillis(5);
        assertThat(a.claims()).isEqualTo(before);
        first.release();
        second.release();
        third.release();
        assertThat(fourth.permit().release()).isTrue();
        assertThat(fourth.permit().release()).isFalse();
        bench.runMillis(2_500);
        assertThat(Peek.permit(a.engine, Bench.KEY).counts.holders()).isZero();
        assertThat(bench.used()).isZero();
        assertThat(a.engine.keys()).isZero();
    }

    @Test
    void aLimitAfterNoneCountsTheCallsFromThenOn() {
        Party a = bench.member("a", 1);
        a.engine.changeLimits(Map.of(Bench.KEY, PermitDefinition.UNLIMITED));
        Asked before = a.acquire();
        assertThat(before.holds()).isTrue();
        a.engine.changeLimits(limits(Bench.KEY, null));
        Asked first = a.acquire();
        Asked second = a.acquire();
        bench.runMillis(5);
        assertThat(first.holds()).isTrue();
        assertThat(second.isWaiting()).isTrue();
        before.release();
        bench.runMillis(5);
        assertThat(second.isWaiting()).isTrue();
    }

    @Test
    void aShutdownWaitsForCallsWithoutALimitAndADrainTakesNoMore() {
        Party a = bench.member("a", 1);
        a.engine.changeLimits(Map.of(Bench.KEY, PermitDefinition.UNLIMITED));
        Asked running = a.acquire();
        var ended = a.engine.shutdown().toCompletableFuture();
        bench.runMillis(3_000);
        assertThat(ended).isNotDone();
        a.engine.drain();
        Asked late = a.acquire();
        assertThat(late.failure())
                .isInstanceOfSatisfying(
                        PermitRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.SHUTTING_DOWN));
        running.release();
        assertThat(ended).isDone();
    }

    @Test
    void aWaitingCallThatAsksForMoreThanALoweredLimitIsRejected() {
        Party a = bench.member("a", 3);
        Asked one = a.acquire();
        bench.runMillis(3);
        Asked heavy = a.acquire(3);
        bench.runMillis(3);
        a.engine.changeLimits(Map.of(Bench.KEY, 2));
        bench.runMillis(5);
        assertThat(heavy.failure())
                .isInstanceOfSatisfying(
                        PermitRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.ABOVE_LIMIT));
        assertThat(one.holds()).isTrue();
    }

    @Test
    void anImpossibleChangeIsRefusedAsAWhole() {
        Party a = bench.member("a", 3);
        PermitDefinition one =
                PermitDefinition.named("one", "One").key("shared").limit(4).build();
        PermitDefinition two =
                PermitDefinition.named("two", "Two").key("shared").limit(4).build();
        PermitDefinition heavy =
                PermitDefinition.named("heavy", "Heavy").limit(5).permits(3).build();
        a.engine.define(one);
        a.engine.define(two);
        a.engine.define(heavy);
        assertThatThrownBy(() -> a.engine.changeLimits(Map.of(Bench.KEY, 9, "one", 5)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("shared");
        assertThatThrownBy(() -> a.engine.changeLimits(Map.of(Bench.KEY, 9, "heavy", 2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot take 3 permits");
        assertThatThrownBy(() -> a.engine.changeLimits(Map.of(Bench.KEY, 0)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not between 1 and 1000000");
        assertThat(a.engine.find(Bench.KEY).orElseThrow().limit()).isEqualTo(3);
        assertThat(a.engine.find("one").orElseThrow().limit()).isEqualTo(4);
        a.engine.changeLimits(Map.of("one", 5, "two", 5));
        assertThat(a.engine.find("two").orElseThrow().limit()).isEqualTo(5);
    }

    @Test
    void declarationsThatOnlyTheSettingsReconciledAreComparedWhenTheSettingsGo() {
        Party a = bench.member("a", 3);
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(3), "x", Bench.limit(2)));
        a.engine.define(PermitDefinition.named("x", "One").limit(4).build());
        a.engine.define(PermitDefinition.named("x", "Two").limit(5).build());
        assertThatThrownBy(() -> a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name 'x'");
        assertThat(a.engine.find(Bench.KEY).orElseThrow().limit()).isEqualTo(3);
        assertThat(a.engine.find("x").orElseThrow().limit()).isEqualTo(2);
    }

    @Test
    void aNameThatIsInUseKeepsALimit() {
        Party a = bench.member("a", 3);
        a.hold().release();
        assertThatThrownBy(() -> a.engine.changeSettings(PermitSettings.NONE, Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("distributed-permit.permits." + Bench.KEY + ".limit");
        assertThat(a.engine.find(Bench.KEY).orElseThrow().limit()).isEqualTo(3);
    }

    @Test
    void limitsOfCodeOutliveChangedSettings() {
        Party a = bench.member("a", 3);
        a.engine.changeLimits(Map.of(Bench.KEY, 7));
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(4)));
        assertThat(a.engine.find(Bench.KEY).orElseThrow().limit()).isEqualTo(7);
        a.engine.changeLimits(limits(Bench.KEY, null));
        assertThat(a.engine.find(Bench.KEY).orElseThrow().limit()).isEqualTo(4);
    }

    @Test
    void patternsGiveNamesTheirSettingsAndTheMostSpecificOneWins() {
        Party a = bench.member("a", 3);
        a.engine.changeSettings(
                PermitSettings.NONE,
                Map.of(
                        Bench.KEY,
                        Bench.limit(3),
                        "tenant-*",
                        PermitSettings.builder()
                                .limit(5)
                                .timeout(Duration.ofSeconds(4))
                                .build(),
                        "tenant-gold-*",
                        Bench.limit(9),
                        "tenant-gold-1",
                        Bench.limit(20)));
        assertThat(definition(a, "tenant-1").limit()).isEqualTo(5);
        assertThat(definition(a, "tenant-gold-7").limit()).isEqualTo(9);
        assertThat(definition(a, "tenant-gold-1").limit()).isEqualTo(20);
        assertThat(definition(a, "tenant-gold-1").timeout()).isEqualTo(Duration.ofSeconds(4));
        assertThat(a.engine.find("tenants")).isEmpty();
        assertThat(a.engine.unusedSettings()).containsExactly(Bench.KEY);
        Asked one = new Asked(a.engine.named("tenant-1").acquireAsync(PermitRequest.of("tenant-1")));
        bench.runMillis(3);
        assertThat(one.permit().name()).isEqualTo("tenant-1");
        a.engine.changeLimits(Map.of("tenant-1", 1));
        Asked two = new Asked(a.engine.named("tenant-1").acquireAsync(PermitRequest.of("tenant-1")));
        bench.runMillis(3);
        assertThat(two.isWaiting()).isTrue();
        a.engine.changeLimits(Map.of("tenant-1", 2));
        bench.runMillis(3);
        assertThat(two.holds()).isTrue();
    }

    @Test
    void namesOfAPatternHaveMetersTogether() {
        Party a = bench.member("a", 3);
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(3), "tenant-*", Bench.limit(5)));
        for (int i = 0; i < 3; i++) {
            new Asked(a.engine.named("tenant-" + i).acquireAsync(PermitRequest.of("tenant-" + i)));
        }
        bench.runMillis(3);
        PermitName permit = Peek.permit(a.engine, "tenant-1");
        assertThat(permit.counts.name()).isEqualTo("tenant-*");
        assertThat(permit.counts.holders()).isEqualTo(3);
    }

    @Test
    void numbersOfOneNameOfAPatternAreItsOwn() {
        Party a = bench.member("a", 3);
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(3), "tenant-*", Bench.limit(2)));
        NamedPermits idle = a.engine.named("tenant-2");
        Asked one = askOfTenant(a, "tenant-1");
        Asked two = askOfTenant(a, "tenant-1");
        Asked three = askOfTenant(a, "tenant-1");
        bench.runMillis(3);
        assertThat(gauges(a, "tenant-1").name()).isEqualTo("tenant-1");
        assertThat(gauges(a, "tenant-1").holders()).isEqualTo(2);
        assertThat(gauges(a, "tenant-1").waiters()).isEqualTo(1);
        assertThat(gauges(a, "tenant-1").longestHold()).isPresent();
        assertThat(gauges(a, idle.name()).holders()).isZero();
        assertThat(gauges(a, idle.name()).waiters()).isZero();
        assertThat(gauges(a, idle.name()).longestHold()).isEmpty();
        one.release();
        two.release();
        bench.runMillis(3);
        three.release();
        assertThat(gauges(a, "tenant-1").holders()).isZero();
        assertThat(gauges(a, "tenant-1").waiters()).isZero();
        assertThat(a.engine.gauges())
                .extracting(PermitGauges::name, PermitGauges::holders, PermitGauges::waiters)
                .contains(Tuple.tuple("tenant-*", 0, 0));
    }

    @Test
    void aNameThatIsMadeAfterItsPatternHasChangedStatesTheNewLimit() {
        AtomicReference<@Nullable PermitGauges> meters = new AtomicReference<>();
        PermitObserver observer = new PermitObserver() {
            @Override
            public void named(PermitGauges gauges) {
                meters.set(gauges);
            }
        };
        Party a = bench.member("a", 3, CoreSettings.DEFAULTS, Bench.observing(observer));
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(3), "tenant-*", Bench.limit(5)));
        a.engine.named("tenant-1");
        awaitNoDynamicName(a);
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(3), "tenant-*", Bench.limit(8)));
        assertThat(Objects.requireNonNull(meters.get()).limit()).isEqualTo(8);
        a.engine.named("tenant-2");
        assertThat(gauges(a, "tenant-2").limit()).isEqualTo(8);
        a.engine.changeLimits(Map.of("tenant-*", PermitDefinition.UNLIMITED));
        assertThat(Objects.requireNonNull(meters.get()).limit()).isEqualTo(PermitDefinition.UNLIMITED);
    }

    /** Names made at run time are held weakly. */
    private static void awaitNoDynamicName(Party party) {
        await().until(() -> {
            System.gc();
            return party.engine.gauges("tenant-1").isEmpty();
        });
    }

    @Test
    void anOverrideIsNotShownForANameThatHasNoLimitAnyMore() {
        Party a = bench.member("a", 5);
        bench.override(3);
        a.hold().release();
        bench.runMillis(3);
        assertThat(gauges(a, Bench.KEY).limit()).isEqualTo(3);
        a.engine.changeLimits(Map.of(Bench.KEY, 7));
        assertThat(gauges(a, Bench.KEY).limit()).isEqualTo(3);
        a.engine.changeLimits(Map.of(Bench.KEY, PermitDefinition.UNLIMITED));
        assertThat(gauges(a, Bench.KEY).limit()).isEqualTo(PermitDefinition.UNLIMITED);
    }

    @Test
    void keysAndLongestCallsAreThoseOfAllNamesThatShareAKey() {
        Party a = bench.member("a", 3);
        Asked first = askOf(a, "one");
        bench.runMillis(3);
        Asked second = askOf(a, "two");
        bench.runMillis(1_500);
        Set<String> keys = new HashSet<>();
        a.engine.forEachKey((name, key) -> keys.add(name + " " + key));
        assertThat(keys).containsExactlyInAnyOrder("one both", "two both");
        assertThat(gauges(a, "one").longestHold()).isPresent();
        assertThat(gauges(a, "two").longestWait()).isPresent();

        Asked third = askOf(a, "one");
        bench.runMillis(1_500);
        assertThat(gauges(a, "one").longestWait()).isPresent();
        assertThat(first.holds()).isTrue();
        assertThat(second.isWaiting() && third.isWaiting()).isTrue();
    }

    @Test
    void theLongestHoldIsAlsoThatOfCallsWithoutALimit() {
        Party a = bench.member("a", 1);
        a.engine.changeLimits(Map.of(Bench.KEY, PermitDefinition.UNLIMITED));
        Asked held = a.acquire();
        bench.runMillis(5_000);
        assertThat(gauges(a, Bench.KEY).longestHold())
                .hasValueSatisfying(call -> assertThat(call.time()).isGreaterThanOrEqualTo(Duration.ofSeconds(5)));
        held.release();
        bench.runMillis(1_500);
        assertThat(gauges(a, Bench.KEY).longestHold()).isEmpty();
    }

    @Test
    void theShortestHoldIsThatOfTheLastCallThatGotPermitsOfWhateverKey() {
        Party a = bench.member("a", 3);
        Asked first = a.acquire();
        bench.runMillis(60_000);
        assertThat(gauges(a, Bench.KEY).shortestHold())
                .hasValueSatisfying(time -> assertThat(time).isBetween(Duration.ofSeconds(58), Duration.ofSeconds(60)));
        Asked second = a.acquire();
        Asked third = a.acquireOf("elsewhere", Duration.ofMinutes(1));
        bench.runMillis(5_000);
        for (Asked younger : List.of(second, third)) {
            assertThat(gauges(a, Bench.KEY).shortestHold())
                    .hasValueSatisfying(
                            time -> assertThat(time).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(8)));
            younger.release();
            bench.runMillis(1_500);
        }
        assertThat(gauges(a, Bench.KEY).shortestHold())
                .hasValueSatisfying(time -> assertThat(time).isGreaterThan(Duration.ofSeconds(60)));
        assertThat(gauges(a, Bench.KEY).longestHold())
                .hasValueSatisfying(call -> assertThat(call.time()).isGreaterThan(Duration.ofSeconds(60)));
        first.release();
        bench.runMillis(1_500);
        assertThat(gauges(a, Bench.KEY).shortestHold()).isEmpty();
    }

    private static Asked askOfTenant(Party party, String name) {
        return new Asked(party.engine.named(name).acquireAsync(PermitRequest.of(name)));
    }

    private static PermitGauges gauges(Party party, String name) {
        Optional<PermitGauges> found = party.engine.gauges(name);
        return found.orElseThrow();
    }

    @Test
    void defaultsGiveWhatNeitherDeclarationNorSettingsSay() {
        Party a = bench.member("a", 3);
        a.engine.changeSettings(
                PermitSettings.builder()
                        .timeout(Duration.ofSeconds(7))
                        .storeTimeout(Duration.ofSeconds(3))
                        .build(),
                Map.of(Bench.KEY, Bench.limit(3)));
        assertThat(definition(a, Bench.KEY).timeout()).isEqualTo(Duration.ofSeconds(7));
        assertThat(Peek.permit(a.engine, Bench.KEY).policy().storeTimeout())
                .isEqualTo(Duration.ofSeconds(3).toNanos());
        PermitDefinition said = PermitDefinition.named("said", "Said")
                .limit(1)
                .timeout(Duration.ofSeconds(1))
                .build();
        assertThat(a.engine.define(said).timeout()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void aHigherLimitOfAnotherApplicationIsStillReportedAfterALoweredLimitHasDrained() {
        Party a = bench.member("a", 3);
        Asked one = a.acquire();
        Asked two = a.acquire();
        bench.runMillis(3);
        a.engine.changeLimits(Map.of(Bench.KEY, 1));
        one.release();
        bench.runMillis(10);
        two.release();
        bench.runMillis(10);
        a.hold().release();
        bench.runMillis(10);
        try (Logged logged = new Logged(PermitName.class)) {
            Party b = bench.member("b", 3);
            b.acquire();
            b.acquire();
            bench.runMillis(3);
            a.acquire();
            bench.runMillis(10);
            assertThat(logged.texts()).hasSize(1);
        }
    }

    @Test
    void aNameOfAPatternIsTheSameAfterItHadNoLimitForAWhile() {
        Party a = bench.member("a", 3);
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(3), "tenant-*", Bench.limit(5)));
        NamedPermits kept = a.engine.named("tenant-1");
        Asked one = new Asked(kept.acquireAsync(PermitRequest.of("tenant-1")));
        bench.runMillis(3);
        PermitName before = Peek.permit(a.engine, "tenant-1");

        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(3)));
        assertThat(a.engine.find("tenant-1")).isEmpty();
        assertThat(a.engine.definitions()).extracting(PermitDefinition::name).doesNotContain("tenant-1");
        assertThatThrownBy(() -> a.engine.named("tenant-1")).isInstanceOf(IllegalArgumentException.class);

        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(3), "tenant-*", Bench.limit(2)));
        assertThat(Peek.permit(a.engine, "tenant-1")).isSameAs(before);
        assertThat(definition(a, "tenant-1").limit()).isEqualTo(2);
        Asked two = new Asked(a.engine.named("tenant-1").acquireAsync(PermitRequest.of("tenant-1")));
        Asked three = new Asked(kept.acquireAsync(PermitRequest.of("tenant-1")));
        bench.runMillis(3);
        assertThat(one.holds() && two.holds()).isTrue();
        assertThat(three.isWaiting()).isTrue();
    }

    @Test
    void aNameOfAPatternThatWasWithoutALimitIsTheSameOnceItIsDeclared() {
        Party a = bench.member("a", 3);
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(3), "tenant-*", Bench.limit(5)));
        NamedPermits kept = a.engine.named("tenant-1");
        PermitName before = Peek.permit(a.engine, "tenant-1");
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(3)));
        a.engine.define(PermitDefinition.named("tenant-1", "One").limit(1).build());
        assertThat(Peek.permit(a.engine, "tenant-1")).isSameAs(before);
        Asked one = new Asked(kept.acquireAsync(PermitRequest.of("tenant-1")));
        bench.runMillis(3);
        assertThat(one.holds()).isTrue();
    }

    @Test
    void settingsWithoutALimitAreNotFound() {
        Party a = bench.member("a", 3);
        PermitSettings patient =
                PermitSettings.builder().timeout(Duration.ofSeconds(4)).build();
        a.engine.changeSettings(
                PermitSettings.NONE,
                Map.of(Bench.KEY, Bench.limit(3), "tenant-*", patient, "said", patient, "user-*", Bench.limit(6)));
        assertThat(a.engine.find("tenant-1")).isEmpty();
        assertThat(a.engine.find("tenant-*")).isEmpty();
        assertThat(a.engine.find("said")).isEmpty();
        assertThat(a.engine.find(" ")).isEmpty();
        assertThat(definition(a, "user-*").limit()).isEqualTo(6);
        assertThat(a.engine.definitions()).extracting(PermitDefinition::name).doesNotContain("user-*");
    }

    @Test
    void aWaitingCallWhoseNameLosesItsLimitIsServedEvenIfAnotherNameLeadsTheKey() {
        Party a = bench.member("a", 3);
        Asked first = askOf(a, "one");
        bench.runMillis(3);
        Asked second = askOf(a, "two");
        bench.runMillis(3);
        assertThat(first.holds() && second.isWaiting()).isTrue();
        a.engine.changeLimits(Map.of("two", PermitDefinition.UNLIMITED));
        assertThat(second.holds()).isTrue();
    }

    @Test
    void aWaitingCallLeadsTheKeyWhenTheNameThatLedHasNoLimitAnyMore() {
        Party a = bench.member("a", 3);
        Asked first = askOf(a, "one");
        bench.runMillis(3);
        Asked second = askOf(a, "two");
        Asked third = askOf(a, "two");
        bench.runMillis(3);
        assertThat(second.isWaiting()).isTrue();
        a.engine.changeLimits(Map.of("one", PermitDefinition.UNLIMITED, "two", 2));
        bench.runMillis(3);
        assertThat(first.holds() && second.holds()).isTrue();
        assertThat(third.isWaiting()).isTrue();
    }

    @Test
    void observersGetThePatternAndHoldNoLockOfTheCatalog() {
        Set<String> seen = new HashSet<>();
        AtomicReference<@Nullable Party> party = new AtomicReference<>();
        PermitObserver observer = new PermitObserver() {
            @Override
            public void named(PermitGauges gauges) {
                Party own = Objects.requireNonNull(party.get());
                CompletableFuture.runAsync(() -> own.engine.changeLimits(Map.of()))
                        .orTimeout(30, TimeUnit.SECONDS)
                        .join();
                seen.add("named " + gauges.name());
            }

            @Override
            public void arrived(PermitCall call, boolean waits) {
                seen.add("arrived " + call.observedName() + " " + waits);
            }

            @Override
            public void abandoned(PermitCall call, Duration waited) {
                seen.add("abandoned " + call.observedName());
            }
        };
        Party a = bench.member("a", 3, Bench.linger(Duration.ofSeconds(1)), Bench.observing(observer));
        party.set(a);
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, Bench.limit(3), "tenant-*", Bench.limit(1)));
        NamedPermits named = a.engine.named("tenant-1");
        Asked one = new Asked(named.acquireAsync(PermitRequest.of("x")));
        bench.runMillis(3);
        Asked two = new Asked(named.acquireAsync(PermitRequest.of("x")));
        bench.runMillis(3);
        two.future.cancel(true);
        Set<String> keys = new HashSet<>();
        a.engine.forEachKey((name, key) -> keys.add(name + " " + key));
        assertThat(keys).containsExactly("tenant-* x");
        one.release();
        bench.runMillis(3);
        a.engine.changeLimits(Map.of("tenant-1", PermitDefinition.UNLIMITED));
        new Asked(named.acquireAsync(PermitRequest.of("x"))).release();
        assertThat(seen)
                .containsExactlyInAnyOrder(
                        "named tenant-*", "arrived tenant-* true", "arrived tenant-* false", "abandoned tenant-*");
    }

    /** A call for a key of two names that both have a limit of 1. */
    private static Asked askOf(Party party, String name) {
        party.engine.define(PermitDefinition.named(name, name).limit(1).build());
        return new Asked(party.engine.named(name).acquireAsync(PermitRequest.of("both")));
    }

    private static PermitDefinition definition(Party party, String name) {
        Optional<PermitDefinition> found = party.engine.find(name);
        return found.orElseThrow();
    }

    private static Map<String, @Nullable Integer> limits(String name, @Nullable Integer limit) {
        Map<String, @Nullable Integer> limits = new HashMap<>();
        limits.put(name, limit);
        return limits;
    }
}
