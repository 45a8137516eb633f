package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The short form takes some seconds; {@code docs/simulation.md} tells how to run more. */
class SimulationTest {

    @Test
    void theInvariantsHoldAfterEveryEventOfEverySeed() {
        long seeds = Long.getLong("permit.simulation.seeds", 300);
        long first = Long.getLong("permit.simulation.first", 0);
        Simulation.Report all = Simulation.Report.NOTHING;
        for (long seed = first; seed < first + seeds; seed++) {
            all = all.plus(Simulation.run(seed));
        }
        assertThat(all.granted()).as("%s", all).isPositive();
    }
}
