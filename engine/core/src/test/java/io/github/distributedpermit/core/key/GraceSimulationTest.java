package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.core.key.GraceSimulation.Fault;
import io.github.distributedpermit.core.key.GraceSimulation.Report;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Servers that lose state; docs/simulation.md says how to run more than the short form. */
class GraceSimulationTest {

    @ParameterizedTest
    @EnumSource(Fault.class)
    void validHoldersNeverExceedTheLimit(Fault fault) {
        long seeds = Long.getLong("permit.simulation.seeds", 60);
        long first = Long.getLong("permit.simulation.first", 0);
        Report all = Report.NOTHING;
        for (long seed = first; seed < first + seeds; seed++) {
            all = all.plus(GraceSimulation.run(fault, seed));
        }
        System.out.println("GraceSimulation: " + fault + " " + all);
        assertThat(all.granted()).isPositive();
        assertThat(all.graces() > 0).isEqualTo(fault.loses);
    }
}
