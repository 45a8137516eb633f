package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.core.key.GraceSimulation.Fault;
import io.github.distributedpermit.core.key.GraceSimulation.Report;
import io.github.distributedpermit.core.key.GraceSimulation.Twist;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Servers that lose state; docs/simulation.md says how to run more than the short form. */
class GraceSimulationTest {

    @ParameterizedTest
    @EnumSource(Fault.class)
    void validHoldersNeverExceedTheLimit(Fault fault) {
        run(fault, Twist.NONE);
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void membersMayStateDifferentLeases(Fault fault) {
        run(fault, Twist.MIXED_LEASES);
    }

    @ParameterizedTest
    @EnumSource(
            names = {"FAIL_OVER", "QUIET_FAIL_OVER", "TWO_FAIL_OVERS", "AND_BACK", "FROZEN", "CHOSEN_AGAIN", "CUT_OFF"})
    void clockOfAPromotedServerMayBeBehind(Fault fault) {
        run(fault, Twist.CLOCK_BEHIND);
    }

    private static void run(Fault fault, Twist twist) {
        long seeds = Long.getLong("permit.simulation.seeds", 60);
        long first = Long.getLong("permit.simulation.first", 0);
        Report all = Report.NOTHING;
        for (long seed = first; seed < first + seeds; seed++) {
            all = all.plus(GraceSimulation.run(fault, twist, seed));
        }
        System.out.println("GraceSimulation: " + fault + " " + twist + " " + all);
        assertThat(all.granted()).isPositive();
        assertThat(all.graces() > 0).isEqualTo(fault.loses);
        assertThat(all.exceeded()).as("runs with a former master that goes on").isLessThanOrEqualTo(seeds / 20);
    }
}
