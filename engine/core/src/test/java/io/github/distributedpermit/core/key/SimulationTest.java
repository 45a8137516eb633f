package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/** The short form takes some seconds; {@code docs/simulation.md} tells how to run more. */
class SimulationTest {

    private static final long SEEDS = Long.getLong("permit.simulation.seeds", 300);

    @Test
    void theInvariantsHoldAfterEveryEventOfEverySeed() {
        checkAll(Simulation::run, 0);
    }

    @Test
    void theInvariantsHoldIfMembersStateDifferentLimits() {
        checkAll(Simulation::runMixed, 1_000); // other worlds than those of the first series
    }

    @Test
    void theInvariantsHoldIfCallsStateDifferentLimits() {
        checkAll(Simulation::runWithLimitsOfCalls, 2_000);
    }

    @Test
    void theInvariantsHoldIfCallsAreOfSeveralGroups() {
        checkAll(Simulation::runWithGroups, 3_000);
    }

    @Test
    void theInvariantsHoldIfCallsTakeSeveralPermitsThatLieWithinEachOther() {
        checkAll(Simulation::runWithChains, 4_000);
    }

    private static void checkAll(LongFunction<Simulation.Report> run, long usualFirst) {
        long first = Long.getLong("permit.simulation.first", usualFirst);
        Simulation.Report all = Simulation.Report.NOTHING;
        for (long seed = first; seed < first + SEEDS; seed++) {
            all = all.plus(run.apply(seed));
        }
        assertThat(all.granted()).as("%s", all).isPositive();
    }
}
