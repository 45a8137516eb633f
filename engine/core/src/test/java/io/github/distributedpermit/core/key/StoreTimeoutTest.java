package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long calls wait for a store that does not answer, and which exception they then get. */
class StoreTimeoutTest {

    private static final Duration STORE = Bench.STORE_TIMEOUT;
    private static final Duration SHORT = Duration.ofMillis(100);

    private final Bench bench = new Bench();
    private final Party a = bench.member("a", 1);

    private static void assertTimedOut(Asked call) {
        assertThat(call.failure())
                .isInstanceOfSatisfying(
                        PermitRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.TIMED_OUT));
    }

    private static void assertStoreFailed(Asked call) {
        assertThat(call.failure()).isInstanceOf(PermitBackendException.class);
    }

    // ---- which exception

    @Test
    void aTimeOutWithoutAnyAnswerForACommandTimeOutIsTheStoresFailure() {
        bench.conditions.claimsLost = true;
        Asked call = a.acquire(Bench.COMMAND.plus(SHORT));
        bench.run(Bench.COMMAND.plus(SHORT));
        assertStoreFailed(call);
        assertThat(call.failure()).hasMessageContaining("no answer");
    }

    @Test
    void aNewKeyOfAStoreThatIsSilentIsTheStoresFailureHoweverShortTheTimeOut() {
        a.hold().release();
        bench.runMillis(2);
        bench.conditions.claimsLost = true;
        a.acquireOf("first", Duration.ofMinutes(1));
        bench.run(Bench.COMMAND);
        for (int i = 0; i < 50; i++) {
            Asked call = a.acquireOf("key-" + i, Duration.ofMillis(2));
            bench.runMillis(3);
            assertStoreFailed(call);
        }
    }

    @Test
    void aKeyInUseSharesWhatIsKnownOfASilentStore() {
        bench.member("b", 1).hold();
        a.acquire();
        bench.runMillis(2);
        bench.conditions.claimsLost = true;
        a.acquireOf("other", Duration.ofMinutes(1));
        bench.run(Bench.COMMAND);
        Asked call = a.acquire(SHORT);
        bench.run(SHORT);
        assertStoreFailed(call);
    }

    @Test
    void aSilentStoreIsTheFailureOfCallsThatComeSeldomAndWaitNotLong() {
        a.hold().release();
        bench.conditions.claimsLost = true;
        bench.runMillis(2);
        a.acquire(SHORT);
        bench.run(Bench.LEASE.multipliedBy(3));
        for (int i = 0; i < 20; i++) {
            Asked call = a.acquireOf("key-" + i % 3, SHORT);
            bench.run(Duration.ofMinutes(1));
            assertStoreFailed(call);
        }
    }

    @Test
    void aTimeOutIsTheCallsOwnWhileTheStoreAnswersOtherClaims() {
        a.link.lostKey = Bench.KEY;
        List<Asked> calls = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            if (i % 2 == 0) {
                Asked other = a.acquireOf("other", SHORT);
                bench.runMillis(2);
                other.release();
            }
            calls.add(a.acquire(Duration.ofMillis(1 + i * 5L)));
            bench.runMillis(10);
        }
        bench.run(Duration.ofSeconds(3));
        // those that came within the store time-out: later ones fail at once, because the key is not answered
        calls.subList(0, 500).forEach(StoreTimeoutTest::assertTimedOut);
    }

    @Test
    void aTimeOutShorterThanAnAnswerIsTheCallsOwn() {
        for (int i = 0; i < 50; i++) {
            Asked call = a.acquireOf("key-" + i, Duration.ofNanos(Weather.MILLI / 2));
            bench.runMillis(i % 2 == 0 ? 1 : 30);
            assertTimedOut(call);
        }
    }

    @Test
    void anAnswerThatTakesLongButNotTooLongIsNoFailure() {
        bench.conditions.delay = 900 * Weather.MILLI;
        List<Asked> calls = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            calls.add(a.acquireOf("key-" + i % 10, Duration.ofMillis(1 + i * 8L)));
            bench.runMillis(20);
        }
        bench.run(Bench.COMMAND);
        calls.stream().filter(call -> !call.holds()).forEach(StoreTimeoutTest::assertTimedOut);
    }

    @Test
    void aQueuedCallOfAStoreThatAnswersIsRejected() {
        bench.member("b", 1).hold();
        Asked first = a.acquire(Duration.ofSeconds(3));
        bench.runMillis(100);
        // the store need not be asked again for it, since this member is queued already
        Asked second = a.acquire(SHORT);
        bench.run(Duration.ofSeconds(4));
        assertTimedOut(first);
        assertTimedOut(second);
    }

    // ---- how long

    @Test
    void everyCallWaitsForTheStoreTimeOutAtMost() {
        bench.conditions.claimsLost = true;
        List<Asked> calls = List.of(a.acquire(), a.acquire(Duration.ofMinutes(5)));
        bench.run(STORE.minusNanos(1));
        assertThat(calls.get(0).isWaiting() && calls.get(1).isWaiting()).isTrue();
        bench.run(Duration.ofMillis(1));
        assertStoreFailed(calls.get(0));
        assertStoreFailed(calls.get(1));
    }

    @Test
    void theStoreTimeOutBeginsWithTheFirstClaimThatIsNotAnswered() {
        bench.member("b", 1).hold();
        Asked call = a.acquire();
        bench.run(Duration.ofSeconds(20));
        bench.conditions.refusing = true;
        bench.run(STORE.minusSeconds(1));
        assertThat(call.isWaiting()).isTrue();
        bench.run(Duration.ofSeconds(2));
        assertStoreFailed(call);
    }

    @Test
    void furtherCallsFailAtOnceUntilTheStoreIsBack() {
        bench.conditions.claimsLost = true;
        a.acquire();
        bench.run(STORE.plusMillis(1));
        for (int i = 0; i < 600; i++) {
            Asked call = i % 3 == 0 ? a.tryAcquire() : a.acquireOf("key-" + i % 100, Duration.ofMinutes(1));
            assertStoreFailed(call);
            bench.runMillis(100);
        }
        // some find out whether the store is back, and not every call
        assertThat(a.claims()).isLessThan(200);
        bench.conditions.claimsLost = false;
        Asked call = a.acquireOf("last", Duration.ofMinutes(1));
        for (int i = 0; i < 100 && !call.holds(); i++) {
            bench.runMillis(10);
            call = a.acquireOf("last", Duration.ofMinutes(1));
            bench.runMillis(3);
        }
        assertThat(call.holds()).isTrue();
    }

    @Test
    void whatWasKnownOfTheStoreLongAgoFailsNoCall() {
        bench.conditions.claimsLost = true;
        a.acquire();
        bench.run(STORE.plusMillis(1));
        assertStoreFailed(a.acquire());
        bench.run(Bench.LEASE.multipliedBy(4));
        bench.conditions.claimsLost = false;
        Asked call = a.acquireOf("new", Duration.ofSeconds(1));
        bench.run(Duration.ofMillis(500));
        assertThat(call.holds()).isTrue();
    }

    @Test
    void aKeyThatTheStoreRefusesForGoodFailsNoOther() {
        bench.network.failure = () -> PermitStoreException.permanent("foreign value", null);
        bench.conditions.refusing = true;
        for (int i = 0; i < 200; i++) {
            a.acquireOf("foreign", Duration.ofSeconds(1));
            bench.runMillis(100);
        }
        bench.conditions.refusing = false;
        assertThat(a.hold().isHeld()).isTrue();
    }

    @Test
    void aKeyThatTheStoreCannotServeAtTheMomentFailsNoOther() {
        bench.network.failure = () -> PermitStoreException.ofKey("its slot is being moved");
        bench.conditions.refusing = true;
        Asked waiting = a.acquireOf("moving", Duration.ofMinutes(1));
        bench.run(STORE.plusSeconds(10));
        assertThat(waiting.failure()).hasMessageContaining("its slot is being moved");

        bench.conditions.refusing = false;
        assertThat(a.hold().isHeld()).isTrue();
        a.acquireOf("moving", Duration.ofMinutes(1)); // fails at once, and has the store asked
        bench.run(Duration.ofSeconds(2));
        Asked later = a.acquireOf("moving", Duration.ofMinutes(1));
        bench.run(Duration.ofSeconds(1));
        assertThat(later.holds()).isTrue();
    }

    @Test
    void aTryEndsAtTheCommandTimeOut() {
        bench.conditions.claimsLost = true;
        Asked call = a.tryAcquire();
        bench.run(Bench.COMMAND);
        assertStoreFailed(call);
    }

    // ---- standstill

    @Test
    void callsOfAProcessThatStoodStillGetTheirAnswers() {
        Party b = bench.member("b", 1);
        Duration justOverdue = Bench.COMMAND.plusMillis(10);
        for (Duration stop : List.of(justOverdue, Duration.ofMillis(2_300), STORE, Duration.ofSeconds(30))) {
            Asked attempt = a.tryAcquire();
            Asked waiting = b.acquireOf("other", Duration.ofMinutes(5));
            a.process.stop(stop.toNanos());
            b.process.stop(stop.toNanos());
            bench.run(stop.plusMillis(500));
            assertThat(attempt.holds())
                    .as("after %s: %s", stop, attempt.failure())
                    .isTrue();
            attempt.release();
            assertThat(waiting.holds())
                    .as("after %s: %s", stop, waiting.failure())
                    .isTrue();
            waiting.release();
            bench.run(Bench.LEASE);
        }
    }

    @Test
    void aStandstillIsNoTimeWithoutTheStoreAlsoIfTheAnswerBeforeItEndedAnOutage() {
        a.hold().release();
        bench.conditions.claimsLost = true;
        Asked call = a.acquire();
        bench.runMillis(2); // the return, which was sent before, is answered
        Duration stop = STORE.multipliedBy(2);
        a.process.stop(stop.toNanos());
        bench.run(stop.plus(Bench.COMMAND).plusMillis(1));
        assertThat(call.isWaiting()).isTrue();
        bench.conditions.claimsLost = false;
        bench.run(SHORT);
        assertThat(call.holds()).isTrue();
    }

    @Test
    void aStandstillIsNoTimeWithoutTheStore() {
        bench.conditions.claimsLost = true;
        Asked call = a.acquire();
        bench.run(Duration.ofSeconds(5));
        a.process.stop(Duration.ofMinutes(1).toNanos());
        bench.run(Duration.ofMinutes(1));
        bench.conditions.claimsLost = false;
        assertThat(call.isWaiting()).isTrue();
        bench.run(Bench.COMMAND.plusSeconds(1));
        assertThat(call.holds()).isTrue();
    }

    @Test
    void aSlowMachineDoesNotPutOffTheCommandTimeOutForEver() {
        bench.conditions.claimsLost = true;
        Asked call = a.acquire();
        for (int i = 0; i < 100; i++) {
            a.process.stop(Duration.ofMillis(300).toNanos());
            bench.run(Duration.ofMillis(400));
        }
        assertStoreFailed(call);
    }

    // ---- claims that are written late

    @Test
    void theCommandTimeOutBeginsWhenTheClaimIsWritten() {
        a.link.writesFrom = Duration.ofSeconds(4).toNanos();
        Asked attempt = a.tryAcquire();
        bench.run(Duration.ofSeconds(4).plusMillis(2));
        assertThat(attempt.holds()).isTrue();
        assertThat(a.claims()).isEqualTo(1);
    }

    @Test
    void aClaimThatIsNeverWrittenFailsAtTheStoreTimeOut() {
        a.link.writesFrom = Duration.ofHours(1).toNanos();
        List<Asked> calls = List.of(a.tryAcquire(), a.acquire());
        bench.run(STORE.minusMillis(1));
        assertThat(calls).allMatch(Asked::isWaiting);
        bench.run(Duration.ofMillis(2));
        calls.forEach(StoreTimeoutTest::assertStoreFailed);
    }

    @Test
    void aClaimWrittenLateIsOverdueACommandTimeOutLater() {
        Permit permit = a.hold();
        a.link.writesFrom = bench.time.now() + Duration.ofSeconds(3).toNanos();
        permit.release();
        bench.conditions.claimsLost = true;
        long claims = a.link.count(Bench.KEY);
        bench.run(Duration.ofSeconds(3).plus(Bench.COMMAND).minusMillis(1));
        assertThat(a.link.count(Bench.KEY)).isEqualTo(claims);
        bench.run(Duration.ofSeconds(1));
        assertThat(a.link.count(Bench.KEY)).isEqualTo(claims + 1);
    }
}
