package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PlacesTest {

    private static final long FRESH = 1_000;

    private final Places places = new Places();

    @Test
    void waiterNobodyHasHeardOfStandsAtTheEnd() {
        assertThat(places.since(5, FRESH)).isEqualTo(FRESH);
    }

    @Test
    void waiterKeepsItsPlaceHoweverOftenItIsClaimedFor() {
        places.recorded(10, 12, 500);
        places.recorded(10, 20, 600);
        places.recorded(10, 30, 700);

        assertThat(places.since(10, FRESH)).isEqualTo(500);
        assertThat(places.since(11, FRESH)).as("clocks are read twice").isEqualTo(500);
    }

    @Test
    void youngerWaiterTakesItsOwnPlaceWhenTheOldestHasGone() {
        places.recorded(10, 12, 500);
        places.recorded(10, 20, 600);

        assertThat(places.since(15, FRESH)).isEqualTo(600);
        assertThat(places.since(25, FRESH)).isEqualTo(FRESH);
    }

    @Test
    void longWaitKeepsItsPlaceAlsoAfterAnEarlierOne() {
        places.recorded(1, 5, 400);
        for (int i = 0; i < 1_000; i++) {
            places.recorded(10, 12 + i, 500 + i);
        }

        assertThat(places.since(10, 100_000)).isEqualTo(500);
    }

    @Test
    void longWaitForgetsOnlyTheMiddle() {
        for (int i = 0; i < 10_000; i++) {
            places.recorded(10, 12 + i, 500 + i);
        }

        assertThat(places.since(10, 100_000)).isEqualTo(500);
        assertThat(places.since(10_011, 100_000)).isEqualTo(10_499);
        assertThat(places.since(5_000, 100_000)).isBetween(5_488L, 10_499L);
    }
}
