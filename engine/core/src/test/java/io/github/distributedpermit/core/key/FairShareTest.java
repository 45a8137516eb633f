package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Groups that share the permits of a key. */
class FairShareTest {

    /** In which a member surely looks at the store again. */
    private static final Duration RECHECK = CoreSettings.DEFAULTS.recheck().multipliedBy(2);

    private final Bench bench = new Bench();

    private static PermitRequest.Builder of(String group) {
        return PermitRequest.builder(Bench.KEY).fairBy(group);
    }

    private static Asked ask(Party party, String group) {
        return party.ask(of(group).build());
    }

    private Asked hold(Party party, PermitRequest request) {
        Asked asked = party.ask(request);
        bench.runMillis(5);
        assertThat(asked.holds()).isTrue();
        return asked;
    }

    @Test
    void theNextPermitGoesToTheGroupThatUsesTheFewest() {
        Party party = bench.member("a", 3);
        Asked first = hold(party, of("a").build());
        Asked second = hold(party, of("a").build());
        Asked third = hold(party, of("a").build());
        Asked more = ask(party, "a");
        Asked one = ask(party, "b");
        Asked two = ask(party, "b");
        bench.runMillis(5);
        first.release();
        assertThat(one.holds()).isTrue();
        second.release(); // one of each is in use, and the call of a has waited for longer
        assertThat(more.holds()).isTrue();
        third.release();
        assertThat(two.holds()).isTrue();
        List.of(more, one, two).forEach(Asked::release);
        bench.runMillis(50);
        assertThat(bench.used()).isZero();
    }

    @Test
    void aPauseKeepsTheTurnsOfGroupsAndHeadStarts() {
        Party party = bench.member("a", 1);
        Asked held = hold(party, of("a").build());
        Asked late = ask(party, "a");
        Asked urgent = party.ask(of("a").headStart(Duration.ofMinutes(1)).build());
        Asked other = ask(party, "b");
        bench.override(0);
        bench.run(RECHECK);
        held.release();
        bench.run(RECHECK);
        assertThat(List.of(late, urgent, other)).allMatch(Asked::isWaiting);
        bench.liftOverride();
        bench.run(RECHECK);
        for (Asked next : List.of(urgent, other, late)) {
            assertThat(next.holds()).isTrue();
            next.release();
            bench.runMillis(5);
        }
    }

    @Test
    void afterAnErrorTheListsOfGroupsAreMadeAnew() {
        Party party = bench.member("a", 1);
        Asked held = hold(party, of("a").build());
        Asked one = ask(party, "a");
        Asked two = ask(party, "b");
        Asked three = ask(party, "a");
        KeyQueueState state = Objects.requireNonNull(Peek.state(party.engine, Bench.KEY));
        Objects.requireNonNull(Objects.requireNonNull(state.waiters.first()).group)
                .clear();
        state.waiters.groups.mend(state.waiters.firstCall());
        for (Asked next : List.of(one, two, three)) {
            held.release();
            bench.runMillis(5);
            assertThat(next.holds()).isTrue();
            held = next;
        }
    }

    @Test
    void permitsGrantedBeforeTheFirstGroupCountAsUseOfCallsWithoutOne() {
        Party party = bench.member("a", 2);
        Asked first = hold(party, PermitRequest.of(Bench.KEY));
        hold(party, PermitRequest.of(Bench.KEY));
        Asked more = party.acquire();
        Asked ofGroup = ask(party, "b");
        bench.runMillis(5);

        first.release();
        bench.runMillis(5);

        assertThat(ofGroup.holds()).isTrue();
        assertThat(more.isWaiting()).isTrue();
    }

    @Test
    void idlePermitsThatCallsWithoutAGroupTakeCountAsTheirUse() {
        Party party = bench.member("a", 2, Bench.linger(Duration.ofMillis(10)));
        Asked one = hold(party, of("b").build());
        hold(party, PermitRequest.of(Bench.KEY)).release();
        party.acquire().release();
        party.acquire().release();
        assertThat(party.acquire().holds()).as("takes an idle permit").isTrue();
        Asked more = party.acquire();
        Asked two = ask(party, "b");
        Asked three = ask(party, "b");
        bench.runMillis(5);

        one.release();
        assertThat(two.holds()).isTrue();
        two.release();

        assertThat(three.holds()).isTrue();
        assertThat(more.isWaiting()).isTrue();
    }

    @Test
    void aGroupAloneUsesAllPermits() {
        Party party = bench.member("a", 3);
        for (int i = 0; i < 3; i++) {
            hold(party, of("a").build());
        }
        assertThat(bench.used()).isEqualTo(3);
    }

    @Test
    void withinAGroupCallsAreServedByArrivalLessTheirHeadStarts() {
        Party party = bench.member("a", 1);
        Asked held = hold(party, of("a").build());
        Asked old = ask(party, "a");
        bench.runMillis(10);
        Asked young = ask(party, "a");
        bench.runMillis(10);
        Asked ahead = party.ask(of("a").headStart(Duration.ofMillis(15)).build());
        Asked other = party.ask(of("b").build());
        bench.runMillis(5);
        for (Asked next : List.of(old, other, ahead, young)) {
            held.release();
            bench.runMillis(1);
            assertThat(next.holds()).isTrue();
            held = next;
        }
    }

    @Test
    void groupsTakeTurnsWhereAnInstanceHasOnePermit() {
        Party party = bench.member("a", 1);
        Asked held = hold(party, of("a").build());
        List<Asked> ofA = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            ofA.add(ask(party, "a"));
        }
        Asked one = ask(party, "b");
        Asked two = ask(party, "b");
        bench.runMillis(5);
        for (Asked next : List.of(ofA.get(0), one, ofA.get(1), two, ofA.get(2), ofA.get(3))) {
            held.release();
            assertThat(next.holds()).isTrue();
            held = next;
        }
    }

    @Test
    void callsWithoutAGroupAreOneAlsoIfTheyWaitedBefore() {
        Party party = bench.member("a", 1);
        Asked held = hold(party, PermitRequest.of(Bench.KEY));
        List<Asked> plain = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            plain.add(party.ask(PermitRequest.of(Bench.KEY)));
        }
        bench.runMillis(5);
        Asked grouped = ask(party, "b");
        for (Asked next : List.of(plain.get(0), grouped, plain.get(1))) {
            held.release();
            assertThat(next.holds()).isTrue();
            held = next;
        }
    }

    @Test
    void aGroupOfAHigherWeightGetsAsManyTimesMore() {
        Party party = bench.member("a", 4);
        List<Asked> light = new ArrayList<>();
        List<Asked> heavy = new ArrayList<>();
        List<Asked> first = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            first.add(hold(party, of("first").build()));
        }
        for (int i = 0; i < 8; i++) {
            light.add(ask(party, "light"));
            heavy.add(party.ask(of("heavy").fairWeight(3).build()));
        }
        bench.runMillis(5);
        first.forEach(Asked::release);
        assertThat(light).filteredOn(Asked::holds).hasSize(1);
        assertThat(heavy).filteredOn(Asked::holds).hasSize(3);
    }

    @Test
    void callsForSeveralPermitsCountAllOfThem() {
        Party party = bench.member("a", 4);
        Asked double1 = hold(party, of("a").permits(2).build());
        hold(party, of("b").build());
        Asked last = hold(party, of("c").build());
        Asked ofA = ask(party, "a");
        Asked ofB = ask(party, "b");
        bench.runMillis(5);
        last.release();
        assertThat(ofB.holds()).isTrue();
        assertThat(ofA.isWaiting()).isTrue();
        double1.release();
        assertThat(ofA.holds()).isTrue();
    }

    @Test
    void aClaimStatesTheAgeOfTheOldestCallOfAnyGroup() {
        Party holder = bench.member("a", 2);
        Party party = bench.member("b", 2);
        Asked elsewhere = hold(holder, of("x").build());
        hold(party, of("a").build());
        Asked old = ask(party, "a");
        bench.run(Duration.ofSeconds(2));
        Asked young = ask(party, "b");
        bench.run(Duration.ofSeconds(1));
        assertThat(party.lastClaim().head().waited()).isGreaterThan(Duration.ofSeconds(2));
        elsewhere.release();
        bench.runMillis(5);
        assertThat(young.holds()).isTrue();
        assertThat(old.isWaiting()).isTrue();
    }

    @Test
    void callsWithoutAGroupAreOneBesideOthers() {
        Party party = bench.member("a", 2);
        Asked first = hold(party, of("a").build());
        hold(party, PermitRequest.of(Bench.KEY));
        Asked plain = party.acquire();
        Asked ofA = ask(party, "a");
        bench.runMillis(5);
        first.release();
        assertThat(ofA.holds()).isTrue();
        assertThat(plain.isWaiting()).isTrue();
    }

    @Test
    void groupsAreCountedWhileTheirCallsWaitAndForgottenWhenTheyHaveNone() {
        Party party = bench.member("a", 1);
        Asked held = hold(party, of("a").build());
        Asked second = ask(party, "b");
        ask(party, "b").future.cancel(false);
        Asked third = ask(party, "c");
        bench.run(Duration.ofSeconds(2));
        assertThat(groups(party)).hasSize(3);
        assertThat(party.engine.gauges(Bench.KEY).orElseThrow().fairGroups()).isEqualTo(2);
        held.release();
        assertThat(groups(party)).hasSize(2);
        second.release();
        assertThat(groups(party)).hasSize(1);
        bench.run(Duration.ofSeconds(2));
        assertThat(party.engine.gauges(Bench.KEY).orElseThrow().fairGroups()).isZero();
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE.multipliedBy(2));
        assertThat(third.permit().isHeld()).isFalse();
        KeyQueueState state = Peek.state(party.engine, Bench.KEY);
        assertThat(state == null || state.waiters.groups.all().isEmpty())
                .as("a permit that is lost does not count")
                .isTrue();
        third.release();
    }

    private static List<FairGroup<Waiter>> groups(Party party) {
        return List.copyOf(Objects.requireNonNull(Peek.state(party.engine, Bench.KEY))
                .waiters
                .groups
                .all());
    }

    /** Those that wait under a lower limit of their own count, but do not stand in the way of other groups. */
    @Test
    void groupsAndLimitsOfCallsGoTogether() {
        Party party = bench.member("a", io.github.distributedpermit.PermitDefinition.PER_CALL);
        Asked one = hold(party, of("a").limit(2).build());
        hold(party, of("b").limit(2).build());
        Asked low = party.ask(of("c").limit(2).build());
        Asked second = party.ask(of("a").limit(4).build());
        Asked third = party.ask(of("a").limit(4).build());
        Asked fourth = party.ask(of("d").limit(4).build());
        bench.runMillis(10);
        assertThat(fourth.holds()).isTrue();
        assertThat(second.holds()).isTrue();
        assertThat(third.isWaiting()).isTrue();
        one.release();
        bench.runMillis(10);
        assertThat(third.holds()).isTrue();
        assertThat(low.isWaiting()).isTrue();
        fourth.release();
        second.release();
        third.release();
        bench.runMillis(10);
        assertThat(low.holds()).isTrue();
    }

    @Test
    void weightsAreOneToAThousand() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of("a").fairWeight(0).build())
                .withMessageContaining("weight 0 of a group");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of("a").fairWeight(1_001).build());
        PermitRequest both =
                PermitRequest.of(Bench.KEY).and(of("a").fairWeight(2).build());
        assertThat(both.fairBy()).isEqualTo("a");
        assertThat(both.fairWeight()).isEqualTo(2);
    }
}
