package io.github.distributedpermit.spi.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ArrivalOrderTest {

    private static final long FRESH = 1_000;

    private final ArrivalOrder order = new ArrivalOrder();

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

    @Test
    void youngerWaiterTakesItsOwnPositionWhenTheOldestHasLeft() {
        order.recorded(10, 12, 500);
        order.recorded(10, 20, 600);

        assertThat(order.since(15, FRESH)).isEqualTo(600);
        assertThat(order.since(25, FRESH)).isEqualTo(FRESH);
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
    void longWaitForgetsOnlyTheMiddle() {
        for (int i = 0; i < 10_000; i++) {
            order.recorded(10, 12 + i, 500 + i);
        }

        assertThat(order.since(10, 100_000)).isEqualTo(500);
        assertThat(order.since(10_011, 100_000)).isEqualTo(10_499);
        assertThat(order.since(5_000, 100_000)).isBetween(5_488L, 10_499L);
    }
}
