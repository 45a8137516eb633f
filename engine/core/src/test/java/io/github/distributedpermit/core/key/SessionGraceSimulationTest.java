package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.core.key.SessionGraceSimulation.Fault;
import io.github.distributedpermit.core.key.SessionGraceSimulation.Report;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many runs with stores that have sessions and lose state. */
class SessionGraceSimulationTest {

    @ParameterizedTest
    @EnumSource(Fault.class)
    void validHoldersNeverExceedTheLimit(Fault fault) {
        long seeds = Long.getLong("permit.simulation.seeds", 100);
        long first = Long.getLong("permit.simulation.first", 0);
        Report all = Report.NOTHING;
        for (long seed = first; seed < first + seeds; seed++) {
            all = all.plus(SessionGraceSimulation.run(fault, seed));
        }
        System.out.println("SessionGraceSimulation: " + fault + " " + all);
        assertThat(all.granted()).isPositive();
        assertThat(all.graces() > 0).isEqualTo(fault.loses);
        // Only messages that are lost for half a lease, or a store that is away for longer, end a permit that a call
        // holds.
        assertThat(all.lost()).isLessThanOrEqualTo(fault == Fault.STALLED ? all.granted() : all.granted() / 20);
    }
}
