package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.testsupport.Logged;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Calls that take several permits, and limits that change under them. */
class WeightTest {

    private final Bench bench = new Bench();

    @Test
    void aHeavyCallIsServedWhole() {
        Party a = bench.member("a", 3);
        Asked one = a.acquire();
        bench.runMillis(2);
        Asked heavy = a.acquire(3);
        bench.runMillis(10);
        assertThat(heavy.isWaiting()).isTrue();
        assertThat(bench.used()).isEqualTo(1);
        one.release();
        bench.runMillis(10);
        assertThat(heavy.holds()).isTrue();
        assertThat(heavy.permit().permits()).isEqualTo(3);
        assertThat(bench.used()).isEqualTo(3);
    }

    @Test
    void noOtherCallPassesAHeavyHeadThatDoesNotFitYet() {
        Party a = bench.member("a", 3);
        Asked two = a.acquire(2);
        bench.runMillis(2);
        Asked heavy = a.acquire(2);
        Asked light = bench.member("b", 3).acquire();
        bench.runMillis(10);
        assertThat(heavy.isWaiting()).isTrue();
        Asked third = bench.member("c", 3).tryAcquire();
        bench.runMillis(3);
        assertThat(light.isWaiting()).isTrue();
        assertThat(third.failure()).isInstanceOf(PermitRejectedException.class);
        two.release();
        bench.runMillis(10);
        assertThat(heavy.holds()).isTrue();
        assertThat(light.holds()).isTrue();
    }

    @Test
    void aPermitThatDoesNotCompleteTheHeadGoesBackToTheLine() {
        Party a = bench.member("a", 3);
        Asked one = a.acquire();
        Asked two = a.acquire(2);
        bench.runMillis(3);
        Asked heavy = a.acquire(3);
        bench.runMillis(3);
        one.release();
        bench.runMillis(3);
        assertThat(bench.used()).isEqualTo(2);
        assertThat(heavy.isWaiting()).isTrue();
        two.release();
        bench.runMillis(3);
        assertThat(heavy.holds()).isTrue();
    }

    @Test
    void twoHeavyCallsOfTwoMembersNeverBothSitOnHalf() {
        Party a = bench.member("a", 2);
        Party b = bench.member("b", 2);
        Asked first = a.acquire();
        Asked second = b.acquire();
        bench.runMillis(2);
        Asked heavyA = a.acquire(2);
        Asked heavyB = b.acquire(2);
        bench.runMillis(2);
        first.release();
        second.release();
        bench.runMillis(10);
        assertThat(heavyA.holds() ^ heavyB.holds()).isTrue();
        (heavyA.holds() ? heavyA : heavyB).release();
        bench.runMillis(10);
        assertThat(heavyA.holds() ^ heavyB.holds()).isTrue();
    }

    @Test
    void moreThanTheLimitIsRefusedAtOnce() {
        Party a = bench.member("a", 3);
        assertThatThrownBy(() -> a.acquire(4)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aWaiterAboveALoweredLimitIsRejected() {
        bench.member("a", 3).acquire();
        bench.runMillis(2);
        Party b = bench.member("b", 3);
        Asked heavy = b.acquire(3);
        Asked light = b.acquire();
        bench.runMillis(2);
        bench.override(2);
        bench.runMillis(600);
        assertThat(heavy.failure())
                .isInstanceOfSatisfying(
                        PermitRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.ABOVE_LIMIT));
        assertThat(light.holds()).isTrue();
    }

    @Test
    void aHeavyWaiterIsJudgedByAClaimSentAfterItCame() {
        Party a = bench.member("a", 3);
        bench.override(1);
        a.hold();
        Asked waiter = a.acquire();
        bench.runMillis(600);
        assertThat(waiter.isWaiting()).isTrue();
        // the limit is known to be 1 here, and no answer has said that it no longer is
        bench.conditions.pushesLost = true;
        bench.liftOverride();
        Asked heavy = a.acquire(3);
        assertThat(heavy.isWaiting()).isTrue();
        bench.runMillis(600);
        assertThat(heavy.isWaiting()).isTrue();
        assertThat(waiter.holds()).isTrue();
    }

    @Test
    void anOverrideOfZeroIsAPauseAndRejectsNobodyWhoWaits() {
        Party a = bench.member("a", 2);
        bench.override(0);
        Asked heavy = a.acquire(2);
        bench.run(Duration.ofSeconds(20));
        assertThat(heavy.isWaiting()).isTrue();
        bench.liftOverride();
        bench.runMillis(3);
        assertThat(heavy.holds()).isTrue();
    }

    @Test
    void anOverrideAboveTheOwnLimitServesMoreCallsThanThat() {
        Party a = bench.member("a", 1);
        bench.override(3);
        Asked one = a.acquire();
        bench.runMillis(2);
        Asked two = a.acquire();
        Asked three = a.acquire();
        bench.runMillis(5);
        assertThat(one.holds() && two.holds() && three.holds()).isTrue();
        assertThat(Peek.permit(a.engine, Bench.KEY).counts.limit()).isEqualTo(3);
    }

    @Test
    void membersWithDifferentLimitsAreEachJudgedByTheirOwn() {
        Party wide = bench.member("wide", 3);
        Party narrow = bench.member("narrow", 1);
        wide.acquire();
        bench.runMillis(2);
        Asked refused = narrow.tryAcquire();
        Asked allowed = wide.tryAcquire();
        bench.runMillis(2);
        assertThat(refused.failure()).isInstanceOf(PermitRejectedException.class);
        assertThat(allowed.holds()).isTrue();
    }

    @Test
    void whoGoesByALowerLimitThanOthersIsToldOnce() {
        Party wide = bench.member("wide", 3);
        Party narrow = bench.member("narrow", 1);
        try (Logged log = new Logged(PermitName.class)) {
            Asked first = wide.acquire();
            bench.runMillis(2);
            narrow.tryAcquire();
            bench.runMillis(2);
            assertThat(log.texts()).isEmpty();
            wide.acquire();
            bench.runMillis(2);
            narrow.tryAcquire();
            bench.runMillis(2);
            narrow.tryAcquire();
            bench.runMillis(2);
            assertThat(log.texts()).singleElement().asString().contains("'report'", "limit of 1", "higher limit");
            first.release();
        }
    }

    @Test
    void anOverrideIsNoReasonToWarn() {
        Party a = bench.member("a", 3);
        try (Logged log = new Logged(PermitName.class)) {
            a.hold();
            a.hold();
            bench.override(1);
            bench.runMillis(2);
            a.tryAcquire();
            bench.run(Bench.LEASE);
            assertThat(log.texts()).isEmpty();
        }
    }
}
