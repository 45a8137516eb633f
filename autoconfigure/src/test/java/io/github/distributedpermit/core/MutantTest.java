package io.github.distributedpermit.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** The simulation bites: planted mistakes are found, those that need few seeds in the ordinary build. */
class MutantTest {

    private static final long SEEDS = 100;

    @ParameterizedTest
    @EnumSource(
            mode = Mode.INCLUDE,
            names = {
                "ANSWERS_UNCAPPED",
                "NO_VERSION_TEST",
                "APPLIED_UNCONDITIONALLY",
                "DEADLINE_BEYOND_LEASE",
                "GROWN_BEFORE_ANSWER",
                "SHRUNK_AFTER_SENDING",
                "VERSION_ALONE_AND_RESTARTING",
                "TOKEN_IS_VERSION",
                "NO_RECHECK",
                "NO_PATIENCE",
                "NO_BACKOFF",
                "IDLE_PART_KEPT",
                "HEAVY_JUDGED_TOO_EARLY",
                "TIMER_WHILE_WINDOW_FULL",
                "CANCEL_LEAKS",
                "SEQUENCE_IGNORED",
                "ZERO_RECORD_DELETED",
                "HEAD_JUDGED_BY_THE_FREER",
                "DEAD_MEMBER_STAYS",
                "UNIT_IGNORED",
                "TRY_BARGES"
            })
    void plantedMistakeIsFound(Mutant mistake) {
        Mutant.World world = mistake.world();
        String finding = null;
        for (long seed = 0; seed < SEEDS && finding == null; seed++) {
            finding = world.finding(seed);
        }
        assertThat(finding).as("what %d seeds find of %s", SEEDS, mistake).isNotNull();
    }
}
