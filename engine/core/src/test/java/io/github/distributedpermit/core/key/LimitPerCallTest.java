package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.core.member.Observers;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Calls that state the limit of their key themselves. */
class LimitPerCallTest {

    private static final int PER_CALL = PermitDefinition.PER_CALL;

    private final Bench bench = new Bench();
    private final Party party = bench.member("a", PER_CALL);

    private static PermitRequest.Builder limit(int limit) {
        return PermitRequest.builder(Bench.KEY).limit(limit);
    }

    private Asked ask(int limit) {
        return party.ask(limit(limit).build());
    }

    private Asked attempt(int limit) {
        return party.ask(limit(limit).withoutWaiting().build());
    }

    private List<Asked> hold(int count, int limit) {
        List<Asked> all = IntStream.range(0, count).mapToObj(i -> ask(limit)).toList();
        bench.runMillis(5);
        assertThat(all).allMatch(Asked::holds);
        return all;
    }

    @Test
    void eachCallIsServedUnderItsOwnLimitAndBlocksNoneWithAHigherOne() {
        List<Asked> held = hold(3, 3);
        Asked low = ask(3);
        Asked high = ask(10);
        bench.runMillis(5);
        assertThat(high.holds()).isTrue();

        held.get(0).release();
        bench.runMillis(5);
        assertThat(low.isWaiting()).as("three are in use").isTrue();
        held.get(1).release();
        bench.runMillis(5);
        assertThat(low.holds()).isTrue();
    }

    @Test
    void aPermitThatCameUnderAHigherLimitIsNotPassedToACallWithALowerOne() {
        List<Asked> held = hold(5, 10);
        Asked low = ask(3);
        held.get(0).release();
        assertThat(low.isWaiting()).isTrue();
        bench.runMillis(20);
        assertThat(low.isWaiting()).as("four are in use").isTrue();
        held.get(1).release();
        held.get(2).release();
        bench.runMillis(5);
        assertThat(low.holds()).isTrue();
        assertThat(bench.used()).isEqualTo(3);
    }

    @Test
    void callsOfOneLimitPassPermitsOnWithoutTheStore() {
        List<Asked> held = hold(2, 2);
        Asked next = ask(2);
        bench.runMillis(5);
        bench.conditions.claimsLost = true;
        held.get(0).release();
        bench.runMillis(1);
        assertThat(next.holds()).isTrue();
    }

    @Test
    void anInstanceThatOnlyItsLowerLimitKeepsOutDoesNotBlockOthers() {
        Party other = bench.member("b", PER_CALL);
        List<Asked> held = hold(3, 3);
        Asked low = ask(3);
        bench.runMillis(5);
        Asked high = other.ask(limit(4).build());
        bench.runMillis(5);
        assertThat(high.holds()).isTrue();
        held.get(0).release();
        held.get(1).release();
        bench.runMillis(50);
        assertThat(low.holds()).isTrue();
    }

    @Test
    void aCallThatDoesNotWaitIsRejectedOnlyUnderItsOwnLimit() {
        hold(2, 3);
        ask(3); // while it is under way the others arrive, so that one claim is the first for both
        Asked low = ask(3);
        Asked high = attempt(10);
        bench.runMillis(5);
        assertThat(high.holds()).isTrue();
        Asked another = attempt(3);
        bench.runMillis(5);
        assertThat(another.failure()).isInstanceOf(PermitRejectedException.class);
        assertThat(low.isWaiting()).isTrue();
    }

    @Test
    void aCallThatDoesNotWaitGetsAFreePermitBesideOneWithAHigherLimit() {
        Asked high = ask(10);
        Asked low = attempt(3);
        bench.runMillis(5);
        assertThat(high.holds()).isTrue();
        assertThat(low.holds()).isTrue();
    }

    @Test
    void aCallThatDoesNotWaitIsRejectedAtOnceBehindOneWithAHigherLimit() {
        hold(5, 5);
        Asked high = ask(5);
        bench.runMillis(5);
        Asked low = attempt(3);
        bench.runMillis(5);
        assertThat(low.failure()).isInstanceOf(PermitRejectedException.class);
        assertThat(high.isWaiting()).isTrue();
    }

    @Test
    void newCallsThatGoToTheFrontDoNotKeepOutOneWithAHigherLimit() {
        hold(3, 3);
        ask(3);
        Asked high = ask(10);
        for (int i = 0; i < 40; i++) {
            party.ask(limit(3).headStart(Duration.ofSeconds(i + 1)).build());
            bench.run(Duration.ofNanos(300_000));
        }
        assertThat(high.holds()).isTrue();
    }

    @Test
    void aSlowAnswerStillShowsThatACallWasTried() {
        hold(3, 3);
        bench.conditions.delay = Duration.ofMillis(400).toNanos(); // an answer takes longer than a re-check
        ask(3);
        Asked high = ask(10);
        for (int i = 0; i < 40; i++) {
            party.ask(limit(3).build());
            bench.runMillis(100);
        }
        assertThat(high.holds()).isTrue();
    }

    /** Of several permits, fewer may be free than a call with a higher limit needs, and enough for one with a lower limit. */
    @Test
    void aCallThatWasPassedIsTriedAgain() {
        Party other = bench.member("b", PER_CALL);
        Asked one = other.ask(limit(10).build());
        Asked two = other.ask(limit(10).permits(2).build());
        bench.runMillis(5);
        Asked light = ask(3);
        Asked heavy = party.ask(limit(10).permits(9).build());
        bench.runMillis(20);
        assertThat(light.isWaiting() && heavy.isWaiting()).isTrue();
        one.release();
        bench.run(CoreSettings.DEFAULTS.recheck().plusMillis(20));
        assertThat(light.holds()).isTrue();
        assertThat(heavy.isWaiting()).isTrue();
        light.release();
        two.release();
        bench.run(CoreSettings.DEFAULTS.recheck().plusMillis(20));
        assertThat(heavy.holds()).isTrue();
    }

    @Test
    void aSettingWinsForCallsThatWaitToo() {
        Party declared = bench.member("d", Map.of(), CoreSettings.DEFAULTS, Observers.NONE);
        declared.engine.define(
                PermitDefinition.named(Bench.KEY, "test").limit(PER_CALL).build());
        IntStream.range(0, 3).forEach(i -> declared.ask(limit(3).build()));
        Asked waiting = declared.ask(limit(3).build());
        bench.runMillis(5);
        assertThat(waiting.isWaiting()).isTrue();
        declared.engine.changeLimits(Map.of(Bench.KEY, 4));
        bench.runMillis(5);
        assertThat(waiting.holds()).isTrue();
        Asked above = declared.ask(limit(100).build());
        bench.runMillis(5);
        assertThat(above.isWaiting()).isTrue();
        Map<String, Integer> none = new HashMap<>();
        none.put(Bench.KEY, null);
        declared.engine.changeLimits(none);
        bench.runMillis(5);
        assertThat(above.holds()).as("its own limit counts again").isTrue();
    }

    @Test
    void anOperatorsLimitWins() {
        List<Asked> held = hold(1, 3);
        bench.override(2);
        bench.runMillis(5);
        Asked second = ask(10);
        Asked third = ask(10);
        Asked low = ask(1);
        bench.runMillis(5);
        assertThat(second.holds()).isTrue();
        assertThat(third.isWaiting()).isTrue();
        assertThat(low.isWaiting()).isTrue();
        held.get(0).release();
        second.release();
        bench.runMillis(20);
        assertThat(third.holds()).isTrue();
        assertThat(low.holds()).as("the limit is 2 for all").isTrue();
    }

    @Test
    void underAnOperatorsLimitTheFirstCallBlocksTheOthersAsAlways() {
        Party other = bench.member("b", PER_CALL);
        Asked elsewhere = other.ask(limit(6).permits(3).build());
        bench.override(4);
        bench.runMillis(5);
        Asked heavy = party.ask(limit(4).permits(2).build());
        Asked light = ask(6);
        bench.runMillis(20);
        long claims = party.claims();
        bench.runMillis(400);
        assertThat(heavy.isWaiting() && light.isWaiting()).isTrue();
        assertThat(party.claims())
                .as("no permit is claimed that no call can use")
                .isLessThan(claims + 5);
        elsewhere.release();
        bench.runMillis(20);
        assertThat(heavy.holds()).isTrue();
        assertThat(light.holds()).isTrue();
    }

    @Test
    void aLimitThatIsMissingOrTooHighEndsTheCall() {
        assertThatIllegalArgumentException()
                .isThrownBy(party::acquire)
                .withMessageContaining("permit '" + Bench.KEY + "' has to state a limit from 1 to 1000000")
                .withMessageContaining("none");
        assertThatIllegalArgumentException().isThrownBy(() -> ask(0)).withMessageContaining("limit 0 of a call");
        assertThatIllegalArgumentException().isThrownBy(() -> ask(1_000_001));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limit(2).permits(3).build())
                .withMessageContaining("limit 2 of a call for 3 permit(s)");
        assertThat(limit(5).build().and(limit(3).build()).limit()).isEqualTo(3);
    }

    @Test
    void aCallWithoutALimitIsRefusedIfTheSettingsOfItsNameEndWhileItArrives() {
        Party unlimited = arrivingDuring(PermitDefinition.UNLIMITED, null);
        hold(3, 3);
        assertThatIllegalArgumentException()
                .isThrownBy(unlimited::acquire)
                .withMessageContaining("has to state a limit");
        bench.runMillis(5);
        assertThat(bench.used()).isEqualTo(3);
    }

    @Test
    void aCallWithoutALimitKeepsTheOneThatItFoundInTheQueue() {
        Party changed = arrivingDuring(PermitDefinition.UNLIMITED, 3);
        hold(3, 3);
        Asked waiting = changed.acquire();
        bench.runMillis(5);
        changeLimit(changed, null);
        bench.runMillis(5);
        assertThat(waiting.isWaiting()).isTrue();
        assertThat(changed.lastClaim().counts().limit()).isEqualTo(3);
    }

    /** A member for which settings give the limit instead of the calls, and change while each call is on its way to the queue. */
    private Party arrivingDuring(int before, @Nullable Integer after) {
        Party changing =
                bench.member("c", Map.of(Bench.KEY, Bench.limit(before)), CoreSettings.DEFAULTS, Observers.NONE);
        changing.engine.define(
                PermitDefinition.named(Bench.KEY, "test").limit(PER_CALL).build());
        changing.engine.describeCallersBy(method -> {
            changeLimit(changing, after);
            return null;
        });
        return changing;
    }

    private static void changeLimit(Party party, @Nullable Integer limit) {
        party.engine.changeSettings(
                PermitSettings.NONE, limit == null ? Map.of() : Map.of(Bench.KEY, Bench.limit(limit)));
    }

    @Test
    void aKeyHasOwnLimitsUnderAllItsNamesOrUnderNone() {
        Party both = bench.member(
                "b",
                Map.of(Bench.KEY, Bench.limit(PER_CALL), "other", Bench.limit(5)),
                CoreSettings.DEFAULTS,
                Observers.NONE);
        both.ask(limit(5).build());
        bench.runMillis(5);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> both.engine.named("other").acquireAsync(PermitRequest.of(Bench.KEY)))
                .withMessageContaining("another limit than that of permit 'other' (5)");
    }

    @Test
    void sharesOfAnOutageAreThoseOfTheirOwnLimits() {
        PermitSettings local = PermitSettings.builder()
                .limit(PER_CALL)
                .onStoreFailure(OnStoreFailure.LOCAL)
                .storeTimeout(Duration.ofSeconds(3))
                .build();
        Party lenient = bench.member("c", Map.of(Bench.KEY, local), CoreSettings.DEFAULTS, Observers.NONE);
        lenient.engine.named(Bench.KEY);
        bench.run(Bench.LEASE.multipliedBy(2));
        bench.conditions.claimsLost = true;
        List<Asked> low = IntStream.range(0, 3)
                .mapToObj(i -> lenient.ask(limit(2).build()))
                .toList();
        Asked high = lenient.ask(limit(3).build());
        bench.run(Duration.ofSeconds(4));
        assertThat(low).filteredOn(Asked::holds).hasSize(2);
        assertThat(high.holds()).isTrue();
        bench.conditions.claimsLost = false;
        bench.run(Duration.ofSeconds(10));
        low.get(0).release();
        low.get(1).release();
        bench.runMillis(50);
        assertThat(low.get(2).holds()).as("the store counts those that ran").isTrue();
        assertThat(bench.used()).isEqualTo(2);
    }
}
