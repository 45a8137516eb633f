package io.github.distributedpermit.spi.step;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The longest lease counts for as long as a permit under it can be valid, and not much longer. */
class StatedLeasesTest {

    private final StatedLeases leases = new StatedLeases();

    @Test
    void leaseCountsForAsLongAsAPermitCanBeValid() {
        leases.state(30, 0);
        for (long now = 1; now < 29; now++) {
            leases.state(6, now);
        }
        leases.state(30, 29);

        for (long now = 30; now < 29 + 30; now++) {
            leases.state(6, now);
            assertThat(leases.longest()).as("at %d", now).isEqualTo(30);
        }
    }

    @Test
    void leaseThatNoMemberUsesAnyMoreStopsCounting() {
        leases.state(30, 0);

        for (long now = 1; now < 2 * 30 + 1; now++) {
            leases.state(6, now);
        }

        assertThat(leases.longest()).isEqualTo(6);
    }

    /** The grace of another key may be computed at any time until it ends. */
    @Test
    void leaseThatCountsWhenALossIsFoundCountsUntilTheGraceEnds() {
        leases.state(30, 0);
        leases.state(6, 30);
        leases.state(6, 59);

        leases.restart(59);

        for (long now = 59; now < 59 + 30; now++) {
            leases.state(6, now);
            assertThat(leases.longest()).as("at %d", now).isEqualTo(30);
        }
    }

    @Test
    void longestOfSeveralCountsWhicheverIsStatedLast() {
        leases.state(6, 0);
        leases.state(30, 1);
        leases.state(15, 2);

        assertThat(leases.longest()).isEqualTo(30);
    }
}
