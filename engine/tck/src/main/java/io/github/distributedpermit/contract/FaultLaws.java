package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What holds whatever the network does: the limit, and that nothing is lost for ever. */
interface FaultLaws extends ContractTests {

    /** A store that sends few notices may need more runs than others until chance has reordered two of them. */
    int MOST_EXTRA_RUNS = 20;

    @Test
    default void limitHoldsAndNothingLeaksWhateverTheNetworkDoes() {
        FaultyFixture fixture = (FaultyFixture) harness().fixture();
        fixture.network().delayUpTo(fixture.latest());
        int grants = 0;
        int losses = 0;
        for (long seed = 1;
                seed <= fixture.runs()
                        || seed <= fixture.runs() + MOST_EXTRA_RUNS
                                && !fixture.network().hasHitWithAll();
                seed++) {
            RandomRun run = new RandomRun(harness(), fixture, seed);
            run.drive();
            grants += run.grants();
            losses += run.losses();
        }
        assertThat(grants).as("the drivers really got permits").isGreaterThan(fixture.runs() * 10);
        if (peer().store().session().isEmpty()) {
            assertThat(losses).as("leases really ended").isPositive();
        }
    }
}
