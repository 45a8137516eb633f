package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a call costs the store. */
class ClaimCountTest {

    private final Bench bench = new Bench();

    @Test
    void anUncontendedPairMakesExactlyTwoClaims() {
        Party a = bench.member("a", 3);
        a.hold().release();
        bench.run(Duration.ofMinutes(1));
        assertThat(a.claims()).isEqualTo(2);
        assertThat(a.engine.keys()).isZero();
        assertThat(bench.used()).isZero();
    }

    @Test
    void twentySixPairsMakeFiftyTwoClaims() {
        Party a = bench.member("a", 1);
        for (int i = 0; i < 26; i++) {
            a.hold().release();
            bench.runMillis(10);
        }
        assertThat(a.claims()).isEqualTo(52);
    }

    @Test
    void pairsThatFollowEachOtherAtOnceCostNoMore() {
        Party a = bench.member("a", 1);
        for (int i = 0; i < 26; i++) {
            a.hold().release();
        }
        bench.runMillis(10);
        assertThat(a.claims()).isEqualTo(52);
    }

    @Test
    void aRefusedTryMakesExactlyOneClaim() {
        bench.member("a", 1).hold();
        Party b = bench.member("b", 1);
        Asked call = b.tryAcquire();
        bench.run(Duration.ofSeconds(3));
        assertThat(call.failure()).isInstanceOf(PermitRejectedException.class);
        assertThat(b.claims()).isEqualTo(1);
        assertThat(b.engine.keys()).isZero();
    }

    @Test
    void aCallThatTimesOutInLineMakesTwo() {
        bench.member("a", 1).hold();
        Party b = bench.member("b", 1);
        b.acquire(Duration.ofMillis(100));
        bench.run(Duration.ofSeconds(3));
        assertThat(b.claims()).isEqualTo(2);
    }

    @Test
    void callsOfOneProcessHandOverAlmostWithoutClaims() {
        Party a = bench.member("a", 1);
        List<Asked> calls = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            calls.add(a.acquire());
        }
        bench.runMillis(2);
        for (Asked call : calls) {
            assertThat(call.holds()).isTrue();
            bench.time.run(100_000);
            call.release();
        }
        bench.run(Duration.ofSeconds(3));
        // one to ask, one to return, and a look whether others wait once per slice of 5 ms in 20 ms
        assertThat(a.claims()).isBetween(2L, 9L);
        assertThat(bench.used()).isZero();
    }

    @Test
    void callsThatComeWhileAClaimIsUnderWayShareTheNext() {
        Party a = bench.member("a", 100);
        List<Asked> calls = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            calls.add(a.acquire());
        }
        bench.runMillis(3);
        assertThat(calls).allMatch(Asked::holds);
        assertThat(a.claims()).isEqualTo(2);
        calls.forEach(Asked::release);
        bench.runMillis(3);
        assertThat(bench.used()).isZero();
        assertThat(a.claims()).isEqualTo(4);
    }

    /** It was asked for by a call that was served meanwhile by another one, and no other member wants the permit. */
    @Test
    void anAnswerOnItsWayServesACallThatHasJustArrived() {
        Party a = bench.member("a", 100);
        Permit first = a.hold();
        Asked second = a.acquire();
        first.release();
        assertThat(second.holds()).isTrue();
        second.release();
        Asked third = a.acquire();
        assertThat(a.claims()).isEqualTo(2);
        while (a.claims() == 2) {
            bench.time.run(10_000);
        }
        assertThat(third.holds()).isTrue();
        third.release();
        bench.runMillis(10);
        assertThat(bench.used()).isZero();
    }

    @Test
    void aHolderIsRenewedAtAThirdOfTheLease() {
        Party a = bench.member("a", 1);
        a.hold();
        bench.run(Bench.LEASE.multipliedBy(4));
        assertThat(a.claims()).isBetween(12L, 14L);
        assertThat(bench.used()).isEqualTo(1);
    }

    @Test
    void aWaiterIsCheckedTwiceASecond() {
        bench.member("a", 1).hold();
        Party b = bench.member("b", 1);
        b.acquire();
        bench.run(Duration.ofSeconds(10));
        assertThat(b.claims()).isBetween(18L, 24L);
    }
}
