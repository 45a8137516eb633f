package io.github.distributedpermit.spi.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ArrivalOrderTest {

    private static final long FRESH = 1_000;

    private final ArrivalOrder order = new ArrivalOrder(0);

    @Test
    void newWaiterIsAtTheEndOfTheQueue() {
        assertThat(order.since(5, FRESH)).isEqualTo(FRESH);
    }

    @Test
    void waiterKeepsItsPositionHoweverOftenItIsClaimedFor() {
        order.recorded(10, 12, 500);
        order.recorded(10, 20, 600);
        order.recorded(10, 30, 700);

        assertThat(order.since(10, FRESH)).isEqualTo(500);
        assertThat(order.since(11, FRESH)).as("clocks are read twice").isEqualTo(500);
    }

    /** Two members read a key that is not there; the first to create it read the clock earlier. */
    @Test
    void versionOfARowThatWasNeverCreatedPutsNoWaiterBehindLaterOnes() {
        order.received(12, 800);
        order.received(14, 500);
        order.recorded(10, 20, 510);

        assertThat(order.since(10, FRESH)).isEqualTo(500);
        assertThat(order.since(15, FRESH)).isEqualTo(510);
    }

    @Test
    void youngerWaiterTakesItsOwnPositionWhenTheOldestHasLeft() {
        order.recorded(10, 12, 500);
        order.recorded(10, 20, 600);

        assertThat(order.since(15, FRESH)).isEqualTo(600);
        assertThat(order.since(25, FRESH)).isEqualTo(FRESH);
    }

    @Test
    void waitersOfOthersMayHaveComeBeforeThatAreQueuedUpToTheFirstVersionAfterAMoment() {
        long milli = 1_000_000L;
        order.took(10 * milli, 15 * milli);
        assertThat(order.endOfMoment(10 * milli, 20 * milli, FRESH)).isEqualTo(FRESH);
        order.recorded(10 * milli, 20 * milli, 500);
        order.recorded(10 * milli, 59 * milli, 520);
        assertThat(order.endOfMoment(11 * milli, 59 * milli, FRESH)).isEqualTo(FRESH);
        assertThat(order.endOfMoment(11 * milli, 160 * milli, FRESH)).isEqualTo(FRESH);
        assertThat(order.endOfMoment(11 * milli, 161 * milli, FRESH))
                .as("a claim that is sent much later")
                .isEqualTo(520);

        order.recorded(10 * milli, 90 * milli, 540);
        order.recorded(10 * milli, 95 * milli, 550);

        assertThat(order.endOfMoment(11 * milli, 161 * milli, FRESH)).isEqualTo(540);
        for (int i = 0; i < 20; i++) {
            order.took(milli, 162 * milli);
        }
        assertThat(order.endOfMoment(11 * milli, 161 * milli, FRESH))
                .as("later answers do not change it")
                .isEqualTo(540);
    }

    @Test
    void claimThatTakesLongPutsNoWaiterBehindThoseThatComeMeanwhile() {
        long milli = 1_000_000L;
        order.received(12 * milli, 500);
        order.received(40 * milli, 510);
        order.took(50 * milli, 60 * milli);
        order.recorded(10 * milli, 60 * milli, 510);

        assertThat(order.since(10 * milli, FRESH)).isEqualTo(500);
        assertThat(order.since(30 * milli, FRESH)).isEqualTo(510);
        order.recorded(10 * milli, 111 * milli, 520);
        order.recorded(10 * milli, 113 * milli, 530);
        assertThat(order.endOfMoment(10 * milli, 113 * milli, FRESH))
                .as("the moment is that of the answer")
                .isEqualTo(530);
    }

    @Test
    void momentLastsForFiveMillisecondsAtLeastAndForAHundredAtMost() {
        long milli = 1_000_000L;
        order.took(milli, 71 * milli);
        order.recorded(70 * milli, 71 * milli, 560);
        order.recorded(70 * milli, 75 * milli, 570);
        order.recorded(70 * milli, 77 * milli, 580);
        assertThat(order.endOfMoment(70 * milli, 77 * milli, FRESH)).isEqualTo(580);
        order.took(1_000 * milli, 1_078 * milli);
        order.recorded(80 * milli, 81 * milli, 590);
        order.recorded(80 * milli, 180 * milli, 600);
        assertThat(order.endOfMoment(80 * milli, 180 * milli, FRESH)).isEqualTo(FRESH);
        order.recorded(80 * milli, 182 * milli, 610);
        assertThat(order.endOfMoment(80 * milli, 182 * milli, FRESH)).isEqualTo(610);
    }

    @Test
    void longWaitKeepsItsPositionAlsoAfterAnEarlierOne() {
        order.recorded(1, 5, 400);
        for (int i = 0; i < 1_000; i++) {
            order.recorded(10, 12 + i, 500 + i);
        }

        assertThat(order.since(10, 100_000)).isEqualTo(500);
    }

    @Test
    void positionsOfWaitersAreLaterThanTheirArrivalsByASmallPartOfTheirWaitAtMost() {
        for (int i = 0; i < 10_000; i++) {
            order.recorded(10, 12 + i, 500 + i);
        }

        assertThat(order.since(10, 100_000)).isEqualTo(500);
        assertThat(order.since(10_011, 100_000)).isEqualTo(10_499);
        for (long arrival = 12; arrival < 10_011; arrival++) {
            long waited = 10_011 - arrival;
            assertThat(order.since(arrival, 100_000) - 488 - arrival).isBetween(0L, waited / 64 + 1);
        }
    }

    @Test
    void hoursOfWaitingLeaveABoundedNumberOfVersions() {
        long second = 1_000_000_000L;
        for (int i = 0; i < 100_000; i++) {
            order.recorded(10, second + i * second / 10, 500 + i);
        }

        assertThat(order.size()).isLessThanOrEqualTo(1_024);
        assertThat(order.since(5_000 * second, 2_000_000) - 500 - 49_990).isBetween(0L, 50_000L / 32);
    }

    @Test
    void versionsThatNoWaiterWillLookUpAreForgotten() {
        order.recorded(10, 12, 500);
        order.received(20, 510);
        order.passed(15, 30, 510);

        assertThat(order.size())
                .as("calls may have come since the claim was made")
                .isEqualTo(1);
        assertThat(order.since(18, FRESH)).isEqualTo(510);
        order.passed(40, 50, 510);
        assertThat(order.size()).isZero();
    }

    @Test
    void rechecksOfMinutesLeaveFewVersions() {
        long second = 1_000_000_000L;
        for (int i = 0; i < 1_200; i++) {
            order.received(second + i * second / 2, 500);
            order.recorded(10, second + i * second / 2 + 1_000_000, 500);
        }

        assertThat(order.size()).isLessThanOrEqualTo(512);
    }

    @Test
    void recheckKeepsItsMomentWhileVersionsAreForgotten() {
        long milli = 1_000_000L;
        order.took(20 * milli, 10 * milli);
        for (int i = 0; i < 20_000; i++) {
            long now = (10 + i) * milli;
            order.recorded(5 * milli, now, 500 + i);
            if (i >= 80) { // the moment ends with the 80th
                assertThat(order.endOfMoment(5 * milli, now, 1_000_000)).isEqualTo(580);
            }
        }
    }

    @Test
    void headStartTakesThePositionOfThatTime() {
        long second = 1_000_000_000L;
        for (int at = 1; at <= 40; at++) {
            order.recorded(at * second - 1, at * second, 500 + at); // a new waiter each second, without a head start
        }
        assertThat(order.since(10 * second, FRESH))
                .as("no waiter has shown a head start")
                .isEqualTo(540);

        order.recorded(11 * second, 41 * second, 541); // the first one, of 30 seconds
        for (int at = 42; at <= 100; at++) {
            order.recorded(at * second - 1, at * second, 500 + at);
        }

        assertThat(order.since(70 * second, FRESH)).isBetween(570L, 572L);
        assertThat(order.since(95 * second, FRESH)).isBetween(595L, 596L);
        assertThat(order.since(99 * second + 1, FRESH)).isEqualTo(600);
        assertThat(order.since(101 * second, FRESH)).isEqualTo(FRESH);
    }

    @Test
    void versionsOfClaimsThatWaitForNothingCountOnlyWithHeadStarts() {
        long second = 1_000_000_000L;
        order.passed(second, second, 501);
        assertThat(order.since(0, FRESH)).isEqualTo(FRESH);

        order.recorded(-30 * second, 2 * second, 502); // older than the key is here
        for (int at = 3; at <= 60; at++) {
            order.passed(at * second, at * second, 500 + at);
        }

        assertThat(order.since(40 * second, FRESH)).isBetween(540L, 542L);
    }

    @Test
    void bulkWaiterKeepsItsPositionWhileUrgentOnesCome() {
        long second = 1_000_000_000L;
        order.recorded(100 * second, 101 * second, 500);
        for (int i = 0; i < 1_000; i++) {
            long now = 102 * second + i * second / 40;
            order.recorded(now - 30 * second, now, 501 + i);
            order.recorded(100 * second, now + second / 100, 501 + i);
        }

        assertThat(order.since(100 * second, FRESH * 10)).isEqualTo(500);
    }
}
