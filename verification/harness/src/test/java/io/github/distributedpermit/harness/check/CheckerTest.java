package io.github.distributedpermit.harness.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.history.CallKind;
import io.github.distributedpermit.harness.history.Ending;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class CheckerTest {

    private static final long MS = 1_000_000;
    private static final Rules RULES =
            new Rules(1, 1, Duration.ofMillis(100), false, Duration.ofMillis(50), Duration.ofMillis(50), null, null);

    private final Circumstances circumstances = new Circumstances();

    private static Call held(int member, long asked, long entered, long held, long leaving) {
        return new Call(
                member,
                0,
                0,
                CallKind.WAIT,
                1_000 * MS,
                asked * MS,
                entered * MS,
                held * MS,
                0,
                leaving * MS,
                leaving * MS,
                leaving == 0 ? Ending.NONE : Ending.RETURNED,
                entered,
                0);
    }

    private static Call waited(int member, long asked, long ended, Ending ending) {
        return new Call(member, 0, 0, CallKind.WAIT, 1_000 * MS, asked * MS, 0, 0, 0, 0, ended * MS, ending, 0, 0);
    }

    private List<String> violations(Call... calls) {
        return Checker.check(List.of(calls), circumstances, RULES).violations();
    }

    @Test
    void holdersOneAfterTheOtherAreFine() {
        assertThat(violations(held(0, 1, 2, 10, 10), held(1, 1, 10, 20, 20))).isEmpty();
    }

    @Test
    void twoHoldersAtOnceAreFound() {
        assertThat(violations(held(0, 1, 2, 10, 10), held(1, 1, 9, 20, 20)))
                .singleElement()
                .asString()
                .contains("2 valid holders for 1000 us");
    }

    @Test
    void namedExceptionIsMeasuredInstead() {
        circumstances.excuse(new Span(0, 11 * MS));
        Findings findings = Checker.check(List.of(held(0, 1, 2, 10, 10), held(1, 1, 9, 20, 20)), circumstances, RULES);
        assertThat(findings.violations()).isEmpty();
        assertThat(findings.overGrantNanos()).isEqualTo(MS);
    }

    @Test
    void timeFromTheFirstToTheLastMomentOverTheLimitIsBounded() {
        circumstances.excuse(new Span(0, 200 * MS));
        List<Call> calls = List.of(
                held(0, 1, 2, 10, 10), held(1, 1, 9, 20, 20), held(2, 1, 20, 110, 110), held(3, 1, 108, 120, 120));
        Rules rules = new Rules(
                1, 1, Duration.ofMillis(100), false, null, Duration.ofMillis(50), Duration.ofMillis(90), null);
        Findings findings = Checker.check(calls, circumstances, rules);
        assertThat(findings.overGrantNanos()).isEqualTo(2 * MS);
        assertThat(findings.overSpreadNanos()).isEqualTo(101 * MS);
        assertThat(findings.violations()).singleElement().asString().contains("101 ms after the first such moment");
    }

    @Test
    void faultsAreNotAddedUp() {
        circumstances.excuse(new Span(0, 100 * MS));
        circumstances.excuse(new Span(90 * MS, 200 * MS));
        List<Call> calls = List.of(
                held(0, 1, 2, 10, 10), held(1, 1, 9, 20, 20), held(2, 1, 20, 110, 110), held(3, 1, 108, 120, 120));
        Findings findings = Checker.check(calls, circumstances, RULES);
        assertThat(findings.violations()).isEmpty();
        assertThat(findings.overSpreadNanos()).isEqualTo(2 * MS);
    }

    @Test
    void firstPermitOfEachKeyAfterAServerCanServeIsMeasured() {
        circumstances.serves(100 * MS);
        circumstances.serves(200 * MS);
        Findings findings = Checker.check(
                List.of(held(0, 1, 2, 10, 10), held(0, 11, 130, 140, 140), held(1, 21, 210, 220, 220)),
                circumstances,
                RULES);
        assertThat(findings.firstOfHalfNanos()).isEqualTo(10 * MS);
        assertThat(findings.firstOfMostNanos()).isEqualTo(30 * MS);
        assertThat(findings.firstCallNanos()).isZero();
    }

    @Test
    void firstPermitOfEachProcessAfterAServerCanServeIsMeasured() {
        Rules rules = new Rules(
                2, 2, Duration.ofSeconds(1), false, null, Duration.ofMillis(50), null, Duration.ofMillis(100));
        List<Call> calls = List.of(
                held(0, 1, 2, 10, 10), held(1, 1, 5, 20, 20), held(0, 11, 130, 140, 140), held(1, 21, 210, 220, 220));
        circumstances.serves(100 * MS);
        Findings findings = Checker.check(calls, circumstances, rules);
        assertThat(findings.firstCallNanos()).isEqualTo(110 * MS);
        assertThat(findings.violations())
                .singleElement()
                .asString()
                .contains("member 1 got no permit for 110 ms from 0 ms after a server could serve");
    }

    @Test
    void permitThatTheLibraryCalledLostIsHeldNoLonger() {
        assertThat(violations(held(0, 1, 2, 10, 90), held(1, 1, 12, 20, 20))).isEmpty();
    }

    @Test
    void killedHolderHeldUntilItsLastLook() {
        circumstances.died(0, 15 * MS);
        assertThat(violations(held(0, 1, 2, 14, 0), held(1, 1, 13, 20, 20))).hasSize(1);
    }

    @Test
    void freePermitBesideAWaiterIsFound() {
        assertThat(violations(held(0, 1, 2, 10, 10), held(1, 5, 200, 201, 201)))
                .singleElement()
                .asString()
                .contains("for 190 ms");
    }

    @Test
    void outageOfTheStoreIsNoRecovery() {
        circumstances.outage(new Span(10 * MS, 150 * MS));
        Findings findings =
                Checker.check(List.of(held(0, 1, 2, 10, 10), held(1, 5, 200, 201, 201)), circumstances, RULES);
        assertThat(findings.violations()).isEmpty();
        assertThat(findings.recoveryNanos()).isEqualTo(50 * MS);
    }

    @Test
    void deadWaiterWaitsForNothing() {
        circumstances.died(1, 20 * MS);
        assertThat(violations(held(0, 1, 2, 10, 10), waited(1, 5, 0, Ending.NONE)))
                .isEmpty();
    }

    @Test
    void overtakingIsFound() {
        assertThat(violations(held(0, 1, 2, 70, 70), held(1, 60, 70, 80, 80), held(2, 5, 80, 90, 90)))
                .singleElement()
                .asString()
                .contains("55 ms after one that waited on");
    }

    @Test
    void waitThatEndsEarlyOrLateIsFound() {
        assertThat(violations(held(0, 1, 2, 1_300, 1_300), waited(1, 5, 1_000, Ending.TIMED_OUT)))
                .singleElement()
                .asString()
                .contains("5000 us too early");
        assertThat(violations(held(0, 1, 2, 1_300, 1_300), waited(1, 5, 1_100, Ending.TIMED_OUT)))
                .singleElement()
                .asString()
                .contains("95 ms too late");
    }

    @Test
    void timeForWhichTheMachineCouldNotRunAProcessIsNotLate() {
        Call late = waited(1, 5, 1_100, Ending.TIMED_OUT);
        Call stall = stall(1_000, 1_050);
        Call holder = held(0, 1, 2, 1_300, 1_300);
        Findings findings = Checker.check(List.of(holder, late, stall), circumstances, RULES);
        assertThat(findings.violations()).isEmpty();
        assertThat(findings.lateNanos()).isEqualTo(50 * MS);

        circumstances.paused(1, new Span(1_000 * MS, 1_050 * MS)); // that was us
        Call another = waited(2, 5, 1_100, Ending.TIMED_OUT);
        assertThat(violations(holder, another, stall))
                .singleElement()
                .asString()
                .contains("95 ms too late");
    }

    @Test
    void timeForWhichTheMachineStoodStillIsNoRecovery() {
        Call first = held(0, 1, 2, 10, 10);
        Call second = held(1, 1, 300, 310, 310);
        assertThat(violations(first, second)).singleElement().asString().contains("for 290 ms");
        assertThat(violations(first, second, stall(20, 119)))
                .as("an ordinary stall")
                .singleElement()
                .asString()
                .contains("for 290 ms");
        Findings findings = Checker.check(List.of(first, second, stall(20, 220)), circumstances, RULES);
        assertThat(findings.violations()).isEmpty();
        assertThat(findings.recoveryNanos()).isEqualTo(90 * MS);
    }

    private static Call stall(long from, long to) {
        return new Call(1, 0, 0, CallKind.STALL, 0, from * MS, 0, 0, 0, 0, to * MS, Ending.NONE, 0, 0);
    }

    @Test
    void callThatNeverEndsIsFound() {
        assertThat(violations(held(0, 1, 2, 10, 0))).singleElement().asString().contains("never ended");
    }

    @Test
    void tokenGivenTwiceIsFound() {
        Call one = held(0, 1, 2, 10, 10);
        assertThat(violations(one, one)).anyMatch(violation -> violation.contains("was given twice"));
    }

    @Test
    void tokensBeginAnewInAStoreThatLostAllItKnew() {
        Call before = held(0, 1, 2, 10, 10);
        Call after = new Call(
                1,
                0,
                0,
                CallKind.WAIT,
                1_000 * MS,
                12 * MS,
                20 * MS,
                25 * MS,
                0,
                25 * MS,
                25 * MS,
                Ending.RETURNED,
                before.version(),
                before.count());
        assertThat(violations(before, after)).anyMatch(violation -> violation.contains("was given twice"));

        circumstances.reborn(15 * MS);

        assertThat(violations(before, after)).isEmpty();
    }
}
