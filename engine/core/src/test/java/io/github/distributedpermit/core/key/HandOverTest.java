package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.spi.Claim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How a permit passes from call to call, within a process and between processes. */
class HandOverTest {

    private final Bench bench = new Bench();

    @Test
    void aReleasedPermitPassesToTheNextCallOfTheProcessAtOnce() {
        Party a = bench.member("a", 1);
        Asked first = a.acquire();
        Asked second = a.acquire();
        bench.runMillis(2);
        first.release();
        assertThat(second.holds()).isTrue();
    }

    @Test
    void theLineIsFirstComeFirstServed() {
        Party a = bench.member("a", 1);
        List<Asked> calls = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            calls.add(a.acquire());
        }
        bench.runMillis(2);
        for (int i = 0; i < 20; i++) {
            assertThat(calls.get(i).holds()).isTrue();
            if (i < 19) {
                assertThat(calls.get(i + 1).isWaiting()).isTrue();
            }
            calls.get(i).release();
        }
    }

    @Test
    void aPermitReleasedByAnotherMemberArrivesAfterTwoMessages() {
        Asked holder = bench.member("a", 1).acquire();
        bench.runMillis(2);
        Asked waiter = bench.member("b", 1).acquire();
        bench.runMillis(2);
        holder.release();
        bench.time.run(1_000_001);
        assertThat(waiter.holds()).isTrue();
    }

    @Test
    void aClaimDoesNotOvertakeAReturnThatOthersWaitFor() {
        Permit first = bench.member("first", 1).hold();
        Party a = bench.member("a", 1);
        Asked call = a.acquire();
        bench.runMillis(2);
        Asked other = bench.member("b", 1).acquire();
        bench.runMillis(2);
        first.release();
        bench.runMillis(2);
        long claims = a.claims();
        call.release();
        Asked next = a.acquire();
        assertThat(a.claims()).isEqualTo(claims + 1);
        bench.time.run(1_000_001);
        assertThat(other.holds()).isTrue();
        assertThat(a.claims()).isEqualTo(claims + 2);
        other.release();
        bench.runMillis(2);
        assertThat(next.holds()).isTrue();
    }

    @Test
    void aClaimOvertakesAReturnThatNobodyWaitsFor() {
        Party a = bench.member("a", 1);
        Permit permit = a.hold();
        permit.release();
        a.acquire();
        assertThat(a.claims()).isEqualTo(3);
    }

    @Test
    void withinASliceCallsOfTheProcessComeFirstAndThenItGoesBackToTheLine() {
        Party a = bench.member("a", 1);
        Asked holder = bench.member("holder", 1).acquire();
        bench.runMillis(2);
        Asked first = a.acquire();
        bench.runMillis(2);
        Asked other = bench.member("b", 1).acquire();
        bench.runMillis(2);
        List<Asked> calls = new ArrayList<>(List.of(first));
        for (int i = 0; i < 20; i++) {
            calls.add(a.acquire());
        }
        bench.runMillis(2);
        holder.release();
        bench.time.run(1_000_001);
        assertThat(first.holds()).isTrue();
        int served = 0;
        while (other.isWaiting()) {
            if (!calls.get(served).isWaiting()) {
                calls.get(served++).release();
            }
            bench.runMillis(1);
        }
        assertThat(served).isBetween(5, 7);
    }

    @Test
    void aProcessThatKeepsHandingOverHearsOfOthersWithinASlice() {
        Party a = bench.member("a", 1);
        Asked current = a.acquire();
        Asked next = a.acquire();
        bench.runMillis(2);
        Asked other = bench.member("b", 1).acquire();
        long waited = 0;
        while (other.isWaiting()) {
            if (!current.isWaiting()) {
                current.release();
                current = next;
                next = a.acquire();
            }
            bench.runMillis(1);
            waited++;
            assertThat(waited).isLessThan(20);
        }
        assertThat(other.holds()).isTrue();
    }

    @Test
    void aGiveBackLeavesTheStoreOnlyWhatIsInUse() {
        Party a = bench.member("a", 2);
        Asked first = a.acquire();
        Asked second = a.acquire();
        bench.runMillis(3);
        Asked other = bench.member("b", 2).acquire();
        bench.runMillis(3);
        a.acquire();
        bench.runMillis(600);
        first.release();
        Claim claim = a.lastClaim();
        assertThat(claim.counts().held()).isEqualTo(1);
        assertThat(claim.counts().wanted()).isEqualTo(2);
        bench.runMillis(3);
        assertThat(other.holds()).isTrue();
        assertThat(second.holds()).isTrue();
    }

    @Test
    void aLingeringPermitServesTheNextCallWithoutTheStore() {
        Party a = bench.member("a", 1, Bench.linger(Duration.ofMillis(3)));
        a.hold().release();
        long before = a.claims();
        bench.runMillis(2);
        Asked next = a.acquire();
        assertThat(next.holds()).isTrue();
        assertThat(a.claims()).isEqualTo(before);
        next.release();
        bench.runMillis(5);
        // the return, and a look whether others wait, since the permit passed on
        assertThat(a.claims()).isLessThanOrEqualTo(before + 2);
        assertThat(bench.used()).isZero();
    }

    @Test
    void nothingLingersWhileAnotherMemberWaits() {
        Party a = bench.member("a", 1, Bench.linger(Duration.ofMillis(100)));
        Asked first = a.acquire();
        bench.runMillis(2);
        Asked other = bench.member("b", 1).acquire();
        // the holder learns of it with its next claim, which a renewal would be
        bench.run(Bench.LEASE.dividedBy(3));
        first.release();
        bench.time.run(1_000_001);
        assertThat(other.holds()).isTrue();
    }

    @Test
    void aLingeringPermitGoesBackAsSoonAsTheProcessHearsThatAnotherWaits() {
        Party a = bench.member("a", 1, Bench.linger(Duration.ofMillis(4)));
        a.hold().release();
        Asked other = bench.member("b", 1).acquire();
        for (int i = 0; i < 20 && other.isWaiting(); i++) {
            Asked next = a.acquire();
            bench.runMillis(1);
            if (!next.isWaiting()) {
                next.release();
            }
        }
        assertThat(other.holds()).isTrue();
    }

    @Test
    void aLoweredLimitEndsTheHandingOver() {
        Party a = bench.member("a", 2);
        List<Asked> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            calls.add(a.acquire());
        }
        bench.runMillis(3);
        bench.override(1);
        bench.runMillis(600);
        calls.get(0).release();
        assertThat(calls.get(2).isWaiting()).isTrue();
        bench.runMillis(3);
        assertThat(bench.used()).isEqualTo(1);
        assertThat(calls.get(1).holds()).isTrue();
        calls.get(1).release();
        bench.runMillis(3);
        assertThat(calls.get(2).holds()).isTrue();
        assertThat(calls.get(3).isWaiting()).isTrue();
    }

    @Test
    void aRaisedLimitServesWaitersAtOnce() {
        Party a = bench.member("a", 1);
        a.hold();
        Asked waiter = bench.member("b", 1).acquire();
        bench.runMillis(2);
        bench.override(2);
        bench.runMillis(1);
        assertThat(waiter.holds()).isTrue();
    }

    @Test
    void aPushThatNobodyWaitsForGoesBack() {
        Asked holder = bench.member("a", 1).acquire();
        bench.runMillis(2);
        Party b = bench.member("b", 1);
        Asked waiter = b.acquire();
        bench.runMillis(2);
        bench.conditions.claimsLost = true;
        waiter.future.cancel(false);
        bench.conditions.claimsLost = false;
        holder.release();
        bench.run(Duration.ofSeconds(5));
        assertThat(bench.used()).isZero();
        assertThat(b.engine.keys()).isZero();
    }

    @Test
    void aPushForAKeyNobodyUsesGoesBack() {
        Party a = bench.member("a", 1);
        a.hold().release();
        bench.run(Duration.ofSeconds(5));
        assertThat(a.engine.keys()).isZero();
        // a claim of a former life arrives late, after the store has forgotten the member
        bench.run(Duration.ofSeconds(60));
        bench.network.server.refresh(Bench.KEY);
        bench.network.server.claim("a", a.link.claims.get(0));
        a.link.push(Bench.KEY, bench.network.server.claim("a", a.link.claims.get(0)));
        assertThat(bench.used()).isEqualTo(1);
        bench.run(Duration.ofSeconds(1));
        assertThat(bench.used()).isZero();
    }
}
