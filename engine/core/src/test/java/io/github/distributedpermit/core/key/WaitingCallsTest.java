package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.PermitState;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Member;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How many waiting calls a claim states, although it wants no more permits than the limit. */
class WaitingCallsTest {

    private static final Duration RECHECK = CoreSettings.DEFAULTS.recheck();

    private final Bench bench = new Bench();

    private void acquire(Party party, int calls) {
        for (int i = 0; i < calls; i++) {
            party.acquire();
        }
    }

    @Test
    void claimStatesTheCallsThatItWantsNoPermitsFor() {
        Party holder = bench.member("a", 2);
        Party other = bench.member("b", 2);
        holder.hold();
        holder.hold();
        acquire(holder, 50);
        acquire(other, 200);

        bench.run(RECHECK.multipliedBy(2));

        assertThat(holder.lastClaim().counts().wanted()).isEqualTo(3);
        assertThat(holder.lastClaim().shown().waitingBeyondWanted())
                .as("50 less the one it wants")
                .isEqualTo(49);
        assertThat(other.lastClaim().counts().wanted()).isEqualTo(2);
        assertThat(other.lastClaim().shown().waitingBeyondWanted()).isEqualTo(198);
    }

    /** The local store has one member, which wants a permit more than it uses. */
    @Test
    void stateCountsAllCallsThatWait() {
        Timeline time = new Timeline();
        SimProcess process = new SimProcess("a", time, 77);
        PermitEngine engine = new PermitEngine(
                new LocalPermitBackend(process::clock),
                new Member("a", "a"),
                CoreSettings.DEFAULTS,
                PermitSettings.NONE,
                Map.of(Bench.KEY, PermitSettings.ofLimit(3)),
                new CoreEnvironment(process::clock, process, Runnable::run, Runnable::run, () -> 0.5, Observers.NONE));
        acquire(engine, 103);

        time.run(RECHECK.multipliedBy(2).toNanos());

        assertThat(engine.named(Bench.KEY).state(Bench.KEY)).isEqualTo(new PermitState(3, 3, 100));
    }

    @Test
    void callsOfDifferentWeightsAreCounted() {
        Party party = bench.member("a", 10);
        bench.override(0);
        party.acquire(5);
        acquire(party, 3);

        bench.run(RECHECK.multipliedBy(2));

        assertThat(party.lastClaim().counts().wanted()).isEqualTo(8);
        assertThat(party.lastClaim().shown().waitingBeyondWanted())
                .as("4 calls, of which 8 permits are 2 by the weight of the oldest")
                .isEqualTo(2);
    }

    @Test
    void aRejectionNamesTheLimitOfItsOwnKey() {
        Party party = bench.member("a", 1);
        party.acquireOf("another key", Duration.ZERO);
        bench.runMillis(20);
        Asked waiting = party.acquireOf("another key", Duration.ofMillis(100));
        bench.runMillis(20);
        bench.override(0);
        party.tryAcquire();
        bench.runMillis(100);

        assertThat(waiting.failure()).hasMessageContaining("key 'another key', limit 1;");
    }

    @Test
    void claimOfACallThatDoesNotWaitStatesNone() {
        Party party = bench.member("a", 1);
        party.hold();
        party.tryAcquire();
        party.tryAcquire();

        bench.runMillis(2);

        assertThat(party.claimsAfter(1))
                .isNotEmpty()
                .allSatisfy(
                        claim -> assertThat(claim.shown().waitingBeyondWanted()).isZero());
    }

    /** There a claim that changes nothing is not written, and each that states another number is. */
    @Test
    void recheckOfASessionStoreStatesAnotherNumberOnlyIfItHasChangedMuchOrAfterAWhile() {
        Timeline time = new Timeline();
        SimSessionStore store = new SimSessionStore(time);
        SimProcess process = new SimProcess("a", time, 77);
        PermitEngine engine = new PermitEngine(
                store.backend(process),
                new Member("a", "a"),
                Bench.storeTimeout(Duration.ofHours(1)),
                PermitSettings.NONE,
                Map.of(Bench.KEY, PermitSettings.ofLimit(1)),
                new CoreEnvironment(process::clock, process, Runnable::run, Runnable::run, () -> 0.5, Observers.NONE));
        List<Claim> claims = store.link("a").claims;
        store.link("a").alive();
        acquire(engine, 1);
        time.run(Duration.ofMillis(2).toNanos());

        acquire(engine, 101);
        time.run(RECHECK.multipliedBy(2).toNanos());
        assertThat(last(claims).shown().waitingBeyondWanted()).as("of 101").isEqualTo(100);

        acquire(engine, 25);
        int before = claims.size();
        time.run(RECHECK.multipliedBy(2).toNanos());
        assertThat(claims).hasSizeGreaterThan(before);
        assertThat(last(claims).shown().waitingBeyondWanted())
                .as("not a quarter more")
                .isEqualTo(100);
        acquire(engine, 1);
        time.run(RECHECK.toNanos());
        assertThat(last(claims).shown().waitingBeyondWanted())
                .as("more than a quarter more")
                .isEqualTo(126);

        acquire(engine, 1);
        time.run(RECHECK.toNanos());
        assertThat(last(claims).shown().waitingBeyondWanted()).isEqualTo(126);
        store.link("a").alive();
        time.run(CoreSettings.DEFAULTS.lease().dividedBy(3).toNanos());
        assertThat(last(claims).shown().waitingBeyondWanted())
                .as("after a third of the lease")
                .isEqualTo(127);
    }

    private static void acquire(PermitEngine engine, int calls) {
        for (int i = 0; i < calls; i++) {
            engine.named(Bench.KEY).acquireAsync(PermitRequest.of(Bench.KEY)).whenComplete((permit, failure) -> {});
        }
    }

    private static Claim last(List<Claim> claims) {
        return claims.get(claims.size() - 1);
    }
}
