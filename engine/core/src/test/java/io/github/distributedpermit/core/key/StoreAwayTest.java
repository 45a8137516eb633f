package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What calls get, and what the store is spared, while it cannot be reached. */
class StoreAwayTest {

    private final Bench bench = new Bench();
    private final Party a = bench.member("a", 1);

    @Test
    void claimsBackOffFromFiftyMillisecondsToASecond() {
        bench.conditions.refusing = true;
        a.acquire();
        bench.run(Duration.ofSeconds(10));
        List<io.github.distributedpermit.spi.Claim> claims = a.link.claims.stream()
                .filter(claim -> claim.key().equals(Bench.KEY))
                .toList();
        assertThat(claims).hasSizeBetween(10, 25);
        long last = a.link.sentAt(claims.get(claims.size() - 1).sequence());
        long before = a.link.sentAt(claims.get(claims.size() - 2).sequence());
        assertThat(last - before).isBetween(500 * Weather.MILLI, 1_100 * Weather.MILLI);
    }

    @Test
    void newCallsDoNotShortenTheBackOff() {
        bench.conditions.refusing = true;
        for (int i = 0; i < 1_000; i++) {
            a.acquire(Duration.ofMillis(5));
            a.tryAcquire();
            bench.runMillis(5);
        }
        assertThat(a.claims()).isLessThan(25);
    }

    @Test
    void aSilentStoreHasOneClaimInFlightAtATime() {
        bench.conditions.claimsLost = true;
        for (int i = 0; i < 100; i++) {
            Asked call = a.acquire(Duration.ofMillis(40));
            bench.runMillis(50);
            assertThat(call.failure()).isNotNull();
        }
        bench.run(Duration.ofSeconds(5));
        assertThat(a.link.count(Bench.KEY)).isLessThanOrEqualTo(5);
    }

    /** What an instance knows of an outage gets out of date without calls, although the outage has been reported. */
    @ParameterizedTest
    @ValueSource(ints = {10, 100, 1_000, 2_900})
    void furtherCallsFailAtOnceWhileTheyKeepComing(int apart) {
        bench.conditions.claimsLost = true;
        a.acquire();
        bench.run(Bench.STORE_TIMEOUT.plusMillis(1));
        for (int i = 0; i < 200_000 / apart; i++) {
            Asked call = a.acquire();
            bench.runMillis(1);
            assertThat(call.failure()).as("call " + i).isInstanceOf(PermitBackendException.class);
            bench.runMillis(apart - 1);
        }
        bench.run(Duration.ofSeconds(20));
        Asked call = a.acquire();
        bench.run(Bench.STORE_TIMEOUT.minusSeconds(1));
        assertThat(call.isWaiting()).isTrue();
        bench.run(Duration.ofSeconds(1));
        assertThat(call.failure()).isInstanceOf(PermitBackendException.class);
    }

    @Test
    void aTryFailsWithItsOwnClaim() {
        bench.conditions.refusing = true;
        Asked call = a.tryAcquire();
        bench.runMillis(1);
        assertThat(call.failure()).isInstanceOf(PermitBackendException.class);
    }

    @Test
    void aTryFailsAtTheCommandTimeOut() {
        bench.conditions.claimsLost = true;
        Asked call = a.tryAcquire();
        bench.run(Bench.COMMAND.minusNanos(1));
        assertThat(call.isWaiting()).isTrue();
        bench.time.run(1);
        assertThat(call.failure()).isInstanceOf(PermitBackendException.class);
    }

    @Test
    void aTryThatComesDuringABackOffEndsAtTheCommandTimeOutAtTheLatest() {
        bench.conditions.refusing = true;
        a.acquire();
        bench.run(Duration.ofSeconds(8));
        Asked call = a.tryAcquire();
        bench.run(Bench.COMMAND);
        assertThat(call.failure()).isInstanceOf(PermitBackendException.class);
    }

    @Test
    void aCallThatTimesOutWhileTheLastClaimHasFailedSaysThatTheStoreFailed() {
        bench.conditions.refusing = true;
        Asked call = a.acquire(Duration.ofMillis(300));
        bench.run(Duration.ofMillis(300).minusNanos(1));
        assertThat(call.isWaiting()).isTrue();
        bench.time.run(1);
        assertThat(call.failure())
                .isInstanceOf(PermitBackendException.class)
                .hasCauseInstanceOf(PermitStoreException.class)
                .hasMessageContaining("report")
                .hasMessageContaining("connection refused");
    }

    @Test
    void aCallThatTimesOutAfterAClaimUnansweredForTheCommandTimeOutSaysSo() {
        bench.conditions.claimsLost = true;
        Asked call = a.acquire(Bench.COMMAND.plusNanos(1));
        bench.run(Bench.COMMAND.plusNanos(1));
        assertThat(call.failure()).isInstanceOf(PermitBackendException.class);
    }

    @Test
    void aCallThatTimesOutAfterTheStoreIsBackIsRejected() {
        bench.member("b", 1).hold();
        bench.conditions.refusing = true;
        Asked call = a.acquire(Duration.ofSeconds(3));
        bench.run(Duration.ofSeconds(1));
        bench.conditions.refusing = false;
        bench.run(Duration.ofSeconds(2));
        assertThat(call.failure()).isInstanceOf(PermitRejectedException.class);
    }

    @Test
    void aCallDoesNotOvertakeAReturnWhileTheStoreIsAway() {
        Permit permit = a.hold();
        bench.conditions.claimsLost = true;
        permit.release();
        bench.run(Bench.COMMAND.plusMillis(100));
        long claims = a.claims();
        a.acquire();
        bench.runMillis(1);
        assertThat(a.claims()).isEqualTo(claims);
    }

    @Test
    void waitersAreServedWhenTheStoreIsBack() {
        bench.conditions.refusing = true;
        Asked call = a.acquire();
        bench.run(Duration.ofSeconds(9));
        bench.conditions.refusing = false;
        bench.run(Duration.ofMillis(1_100));
        assertThat(call.holds()).isTrue();
    }

    @Test
    void anErrorThatCannotHealFailsAllWaitersAtOnce() {
        bench.member("b", 1).hold();
        List<Asked> calls = List.of(a.acquire(), a.acquire(Duration.ofMinutes(1)), a.acquire());
        bench.runMillis(2);
        bench.network.failure = () -> PermitStoreException.permanent("wrong password", null);
        bench.conditions.refusing = true;
        bench.runMillis(510);
        assertThat(calls).allSatisfy(call -> assertThat(call.failure()).hasMessageContaining("wrong password"));
        bench.conditions.refusing = false;
        bench.run(Duration.ofSeconds(3));
        assertThat(a.engine.keys()).isZero();
    }

    @Test
    void aReturnIsRepeatedUntilTheStoreConfirmsIt() {
        Permit permit = a.hold();
        bench.conditions.claimsLost = true;
        permit.release();
        bench.run(Duration.ofSeconds(5));
        assertThat(bench.used()).isEqualTo(1);
        bench.conditions.claimsLost = false;
        bench.run(Duration.ofSeconds(4));
        assertThat(bench.used()).isZero();
        assertThat(a.engine.keys()).isZero();
    }

    @Test
    void aReturnThatCouldNotBeSentAtOnceIsNotForgotten() {
        Party b = bench.member("b", 1);
        Permit permit = a.hold();
        Asked waiter = a.acquire();
        bench.conditions.answersLost = true;
        bench.runMillis(10);
        // the claim for the waiter is under way, so what follows can only be said later
        waiter.future.cancel(false);
        permit.release();
        bench.conditions.answersLost = false;
        bench.run(Duration.ofSeconds(4));
        assertThat(bench.used()).isZero();
        assertThat(b.hold().isHeld()).isTrue();
    }

    @Test
    void aGrantUnderAnEarlierClaimCountsWhileALaterOneIsUnanswered() {
        Permit permit = bench.member("b", 1).hold();
        Asked call = a.acquire();
        bench.run(CoreSettings.DEFAULTS.recheck().minusMillis(1));
        bench.conditions.claimsLost = true;
        bench.runMillis(5);
        bench.conditions.claimsLost = false;
        assertThat(a.claims()).isEqualTo(2);
        permit.release();
        bench.runMillis(2);
        assertThat(call.holds()).isTrue();
        assertThat(a.claims()).isEqualTo(2);
    }

    @Test
    void aKeyIsForgottenOnceTheStoreMustHaveForgottenTheMember() {
        Permit permit = a.hold();
        bench.conditions.refusing = true;
        permit.release();
        bench.run(Bench.LEASE);
        assertThat(a.engine.keys()).isEqualTo(1);
        bench.run(Duration.ofSeconds(10));
        assertThat(a.engine.keys()).isZero();
        long claims = a.link.count(Bench.KEY);
        bench.run(Duration.ofMinutes(10));
        assertThat(a.link.count(Bench.KEY)).isEqualTo(claims);
        bench.conditions.refusing = false;
        bench.run(Duration.ofSeconds(3)); // the store is asked until it answers
        assertThat(bench.time.pending()).isZero();
    }

    @Test
    void aStrayGrantIsReturnedAlthoughTheFirstReturnFails() {
        a.hold().release();
        bench.run(Duration.ofSeconds(60));
        bench.network.server.refresh(Bench.KEY);
        bench.conditions.refusing = true;
        a.link.push(Bench.KEY, bench.network.server.claim("a", a.link.claims.get(0)));
        bench.run(Duration.ofSeconds(3));
        assertThat(bench.used()).isEqualTo(1);
        bench.conditions.refusing = false;
        bench.run(Duration.ofSeconds(3));
        assertThat(bench.used()).isZero();
        bench.run(Duration.ofSeconds(3));
        assertThat(a.engine.keys()).isZero();
    }

    @Test
    void anAnswerThatIsOvertakenDoesNotKeepTheKeyInMemory() {
        Permit permit = a.hold();
        bench.conditions.delay = 10 * Weather.MILLI;
        permit.release();
        bench.conditions.delay = Weather.MILLI;
        Asked next = a.acquire();
        bench.runMillis(5);
        assertThat(a.claims()).isEqualTo(3);
        next.release();
        bench.run(Duration.ofSeconds(5));
        assertThat(bench.used()).isZero();
        assertThat(a.engine.keys()).isZero();
    }

    @Test
    void aLostAnswerHoldsNothingUpOnceALaterClaimIsAnswered() {
        Permit permit = a.hold();
        bench.conditions.answersLost = true;
        permit.release();
        bench.runMillis(1);
        bench.conditions.answersLost = false;
        Asked next = a.acquire();
        bench.runMillis(2);
        next.release();
        bench.runMillis(2);
        assertThat(bench.used()).isZero();
    }

    /** Its requests arrive, so that each repetition renews what the store has granted to it. */
    @Test
    void aMemberWithoutAnswersKeepsNothingItDoesNotUseForLongerThanALease() {
        Party b = bench.member("b", 1);
        Party deaf = bench.member("deaf", 1, Bench.storeTimeout(Duration.ofHours(1)));
        deaf.link.deaf = true;
        deaf.acquire();
        bench.runMillis(10);
        Asked waiting = b.acquire();
        callEveryTenth(deaf, Bench.LEASE.plus(Bench.COMMAND).plusSeconds(2));
        assertThat(waiting.holds()).isTrue();
        callEveryTenth(deaf, Bench.LEASE.multipliedBy(12));
        assertThat(waiting.holds()).isTrue();
    }

    @Test
    void waitersAreServedWithOneMoreRoundTripWhenAnswersAreBack() {
        Party patient = bench.member("patient", 1, Bench.storeTimeout(Duration.ofHours(1)));
        patient.link.deaf = true;
        callEveryTenth(patient, Bench.LEASE.multipliedBy(3));
        patient.link.deaf = false;
        Asked call = patient.acquire(Duration.ofMinutes(1));
        bench.run(Bench.COMMAND.plusSeconds(2));
        assertThat(call.holds()).isTrue();
        List<io.github.distributedpermit.spi.Claim> claims = patient.link.claims;
        assertThat(claims.get(claims.size() - 2).counts().wanted()).isZero();
        assertThat(patient.lastClaim().counts().wanted()).isPositive();
    }

    /** What the claim before it asked for was nothing, so that its answer is none to the try. */
    @Test
    void aTryIsNotRejectedByTheAnswerToAClaimForNothing() {
        Party two = bench.member("two", 2, Bench.storeTimeout(Duration.ofHours(1)));
        two.link.deaf = true;
        Asked call = two.acquire(Duration.ofMinutes(1));
        bench.run(Bench.LEASE.multipliedBy(2));
        long before = two.claims();
        for (int i = 0; i < 50_000 && two.claims() == before; i++) {
            bench.time.run(Weather.MILLI / 10);
        }
        two.link.deaf = false;
        Asked attempt = two.tryAcquire();
        bench.runMillis(3);
        assertThat(call.holds()).isTrue();
        assertThat(attempt.holds()).isTrue();
        assertThat(two.claimsAfter(before))
                .extracting(claim -> claim.counts().wanted())
                .containsExactly(0, 2);
    }

    private void callEveryTenth(Party party, Duration duration) {
        for (long i = 0; i < duration.toMillis() / 100; i++) {
            party.acquire(Duration.ofSeconds(1));
            bench.runMillis(100);
        }
    }
}
