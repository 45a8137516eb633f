package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** The simulation bites: planted mistakes are found, those that need few seeds in the ordinary build. */
class MutantTest {

    private static final long SEEDS = 200;

    @ParameterizedTest
    @EnumSource(
            mode = Mode.INCLUDE,
            names = {
                "ANSWERS_UNCAPPED",
                "NO_VERSION_TEST",
                "APPLIED_UNCONDITIONALLY",
                "DEADLINE_FROM_ANSWER",
                "DEADLINE_BEYOND_LEASE",
                "GROWN_BEFORE_ANSWER",
                "SHRUNK_AFTER_SENDING",
                "VERSION_ALONE_AND_RESTARTING",
                "TOKEN_IS_VERSION",
                "NO_RECHECK",
                "NO_PATIENCE",
                "MISSING_ANSWER_FORGOTTEN",
                "NO_BACKOFF",
                "IDLE_PART_KEPT",
                "HEAVY_JUDGED_TOO_EARLY",
                "RENEWED_WITHOUT_ANSWERS",
                "STANDSTILL_UNNOTICED",
                "TIMER_WHILE_WINDOW_FULL",
                "HEAD_START_IGNORED",
                "HEAD_START_UNBOUNDED",
                "CANCEL_LEAKS",
                "LOSS_IGNORED",
                "GIVE_UP_FORGOTTEN",
                "SEQUENCE_IGNORED",
                "ZERO_RECORD_DELETED",
                "HEAD_JUDGED_BY_THE_FREER",
                "DEAD_MEMBER_STAYS",
                "UNIT_IGNORED",
                "TRY_BARGES",
                "LOWER_LIMIT_BLOCKS",
                "HEAVY_HEAD_IS_PASSED",
                "PASSED_HEAD_MOVES_TO_THE_TAIL",
                "SERVED_MOVES_TO_THE_TAIL"
            })
    void plantedMistakeIsFound(Mutant mistake) {
        Mutant.World world = mistake.world();
        assertThat(firstOf(world::finding))
                .as("what %d seeds find of %s", SEEDS, mistake)
                .isNotNull();
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.INCLUDE,
            names = {"ORDER_OF_REQUESTS", "KEPT_WITHOUT_THE_REST"})
    void plantedMistakeWithChainsIsFound(Mutant mistake) {
        Mutant.World world = mistake.world();
        assertThat(firstOf(seed -> (String) world.run(Simulation.class, "findingOfChains", seed, "")))
                .as("what %d seeds find of %s", SEEDS, mistake)
                .isNotNull();
    }

    /** Those that chance meets too seldom, or that break no invariant but cost claims or time. */
    @ParameterizedTest
    @CsvSource({
        "ONLY_THE_LAST_COUNTS, StoreAwayTest, aGrantUnderAnEarlierClaimCountsWhileALaterOneIsUnanswered",
        "LATE_ANSWER_TAKEN_FOR_ONE, StoreAwayTest, aStrayGrantIsReturnedAlthoughTheFirstReturnFails",
        "LIMIT_LOWERED_UNHEARD, HandOverTest, aLoweredLimitEndsTheHandingOver",
        "NEVER_LEARNS, HandOverTest, aLingeringPermitGoesBackAsSoonAsTheProcessHearsThatAnotherWaits",
        "SEVERAL_IN_FLIGHT_WHILE_AWAY, StoreAwayTest, aCallDoesNotOvertakeAReturnWhileTheStoreIsAway",
        "LEFT_BROKEN, ErrorsTest, callThatWasDecidedWhenAnErrorStruckHasItsPermit",
        "HEAD_START_UNREPORTED, HeadStartTest, aNewHeadThatIsOlderIsReportedAtOnce",
        "ASKED_FOR_MORE_THAN_HEAD_STARTS, HeadStartTest, callsWithoutAHeadStartAreNotServedInThePlaceOfOneThatHasIt",
        "PASSED_ON_AFTER_A_HEAD_START, HeadStartTest, callsWithoutAHeadStartAreNotServedInThePlaceOfOneThatHasIt",
        "PLACE_OF_A_HEAD_START_KEPT, HeadStartTest, aMemberHasThePlaceOfACallWithAHeadStartUntilThatIsServed",
        "PASSED_ON_UNDER_A_LOWER_LIMIT, LimitPerCallTest, aPermitThatCameUnderAHigherLimitIsNotPassedToACallWithALowerOne",
        "LOWER_LIMIT_OF_A_CALL_BLOCKS, LimitPerCallTest, eachCallIsServedUnderItsOwnLimitAndBlocksNoneWithAHigherOne",
        "REJECTED_UNDER_ANOTHERS_LIMIT, LimitPerCallTest, aCallThatDoesNotWaitIsRejectedOnlyUnderItsOwnLimit",
        "TRIED_ONLY_ONCE, LimitPerCallTest, aCallThatWasPassedIsTriedAgain",
        "GROUPS_IGNORED, FairShareTest, theNextPermitGoesToTheGroupThatUsesTheFewest",
        "WEIGHTS_OF_GROUPS_IGNORED, FairShareTest, aGroupOfAHigherWeightGetsAsManyTimesMore",
        "AGE_OF_THE_NEXT_GROUP, FairShareTest, aClaimStatesTheAgeOfTheOldestCallOfAnyGroup",
        "NO_TURNS, FairShareTest, groupsTakeTurnsWhereAnInstanceHasOnePermit",
        "GROUPS_KEPT, FairShareTest, groupsAreCountedWhileTheirCallsWaitAndForgottenWhenTheyHaveNone",
        "NO_FREE_PERMIT_WHILE_LEAVING, ShutdownTest, laterCallGetsAFreePermitAndReturnsItAtOnce",
    })
    void plantedMistakeFailsATest(Mutant mistake, String test, String method) throws ReflectiveOperationException {
        Class<?> type = Class.forName(MutantTest.class.getPackageName() + "." + test);
        assertThat(mistake.world().failure(type, method)).isInstanceOf(AssertionError.class);
    }

    /** Every simulated step is compared with the model, so that no mistake of the real one stays hidden. */
    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "HEAD_THAT_NEVER_FITS_BLOCKS")
    void stepThatMakesAMistakeDiffersFromTheModel(ModelTable.Mistake mistake) {
        assertThat(firstOf(seed -> Simulation.differenceOf(seed, mistake))).contains("differ");
    }

    /** Chance brings a head that can never fit too seldom. */
    @Test
    void stepThatLetsAHeadThatNeverFitsBlockDiffersFromTheModel() {
        TwinTable same = lineWithAHeadThatNeverFits(null);
        assertThat(same.claim("light", claim(1), 3).answer())
                .isNotNull()
                .extracting(Holding::permits)
                .isEqualTo(1);
        TwinTable wrong = lineWithAHeadThatNeverFits(ModelTable.Mistake.HEAD_THAT_NEVER_FITS_BLOCKS);
        assertThatThrownBy(() -> wrong.claim("light", claim(1), 3)).hasMessageContaining("differ");
    }

    private static TwinTable lineWithAHeadThatNeverFits(ModelTable.@Nullable Mistake mistake) {
        TwinTable table = new TwinTable(Duration.ofSeconds(30), mistake);
        table.override(OverrideLimit.of(1), 1);
        table.claim("heavy", claim(2), 2);
        return table;
    }

    private static Claim claim(int permits) {
        return Claim.of("key", permits, Duration.ofSeconds(15))
                .limit(2)
                .wanted(permits)
                .queued(permits);
    }

    private static @Nullable String firstOf(LongFunction<@Nullable String> run) {
        String finding = null;
        for (long seed = 0; seed < SEEDS && finding == null; seed++) {
            finding = run.apply(seed);
        }
        return finding;
    }
}
