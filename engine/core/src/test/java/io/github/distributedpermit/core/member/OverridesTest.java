package io.github.distributedpermit.core.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.testsupport.Logged;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;

/** When a limit of an operator ends, by which clock, and what is reported. */
class OverridesTest {

    private static final long NOW = 1_764_000_000_000L;
    private static final long MINUTE = 60_000;
    private static final OverrideLimit PAUSE =
            OverrideLimit.of(0, "anna", "deploy").during(NOW, NOW + 10 * MINUTE);

    private final List<Long> timers = new ArrayList<>();
    private final List<Runnable> tasks = new ArrayList<>();
    private final List<OverrideLimit> lifted = new ArrayList<>();
    private final List<OverrideLimit> reported = new ArrayList<>();
    private final List<String> inspected = new ArrayList<>();
    private boolean storeFails;
    private boolean errorStrikes;
    private boolean timersFail;
    private long wallClock = NOW;

    private final Overrides overrides = new Overrides(
            (task, nanos) -> {
                if (timersFail) {
                    throw new OutOfMemoryError("planted");
                }
                timers.add(Duration.ofNanos(nanos).toMillis());
                tasks.add(task);
                return () -> tasks.remove(task);
            },
            () -> wallClock,
            key -> {
                inspected.add(key);
                if (errorStrikes) {
                    errorStrikes = false;
                    throw new OutOfMemoryError("planted");
                }
                return storeFails
                        ? CompletableFuture.failedFuture(new IllegalStateException("no answer"))
                        : new CompletableFuture<>();
            },
            (key, limit) -> {
                lifted.add(limit);
                return new CompletableFuture<>();
            },
            (key, limit) -> reported.add(limit));

    private void note(OverrideLimit limit, Optional<Instant> storeTime) {
        overrides.note(new KeyState("k", 0, limit, List.of(), storeTime));
    }

    private static Optional<Instant> store(long millis) {
        return Optional.of(Instant.ofEpochMilli(millis));
    }

    @Test
    void limitOfTheOperatorIsKnownWhileSomeCallsStateTheSame() {
        assertThat(overrides.inForce("k", 10)).isEqualTo(10);
        assertThat(overrides.noteLimit("k", 5, 10)).isTrue();
        assertThat(overrides.noteLimit("k", 5, 5)).isFalse();
        assertThat(overrides.noteLimit("k", 5, 10)).isFalse();
        assertThat(overrides.inForce("k", 10)).isEqualTo(5);
        assertThat(overrides.noteLimit("k", 10, 10)).as("lifted").isTrue();
        assertThat(overrides.inForce("k", 10)).isEqualTo(10);
    }

    /** It may have been lost with the data of the store, and is to be set again then. */
    @Test
    void logSaysWhichLimitHasEnded() {
        try (Logged logged = new Logged(Overrides.class.getName(), Level.INFO)) {
            note(OverrideLimit.of(3, "anna", "contract"), store(NOW));
            note(OverrideLimit.empty(), store(NOW));
            assertThat(logged.texts())
                    .last()
                    .asString()
                    .startsWith("The limit 3 of key 'k', set anna at ")
                    .contains(", because: contract, has ended, or was lost");
        }
    }

    @Test
    void limitThatIsReadIsInForceAlthoughAnAnswerHasNotShownIt() {
        note(PAUSE, store(NOW));
        assertThat(overrides.inForce("k", 10)).isZero();
        assertThat(overrides.noteLimit("k", 10, 10)).isTrue();
        assertThat(overrides.inForce("k", 10)).isEqualTo(10);
        note(PAUSE, store(NOW + MINUTE));
        assertThat(overrides.inForce("k", 10)).isZero();
        assertThat(reported).containsExactly(PAUSE);
        assertThat(timers).containsExactly(10 * MINUTE + 1);
    }

    @Test
    void clockOfTheStoreDecidesWhateverThatOfTheInstanceShows() {
        wallClock = NOW + 60 * MINUTE;
        note(PAUSE, store(NOW + MINUTE));
        assertThat(lifted).isEmpty();
        assertThat(timers).containsExactly(9 * MINUTE + 1);

        wallClock = NOW - 60 * MINUTE;
        tasks.get(0).run();
        assertThat(inspected).containsExactly("k");
        note(PAUSE, store(NOW + 10 * MINUTE));
        assertThat(lifted).containsExactly(PAUSE);
    }

    @Test
    void clockOfTheInstanceDecidesWhereTheStoreHasNone() {
        note(PAUSE, Optional.empty());
        assertThat(timers).containsExactly(10 * MINUTE + 1);
        wallClock = NOW + 10 * MINUTE;
        note(PAUSE, Optional.empty());
        assertThat(lifted).containsExactly(PAUSE);
    }

    @Test
    void limitThatWasOverBeforeItWasSeenIsLiftedAtOnce() {
        note(PAUSE, store(NOW + 11 * MINUTE));
        assertThat(lifted).containsExactly(PAUSE);
    }

    @Test
    void endIsTriedAgainAfterTheStoreFailed() {
        note(PAUSE, store(NOW));
        storeFails = true;
        tasks.get(0).run();
        assertThat(timers).containsExactly(10 * MINUTE + 1, 5_000L);
        storeFails = false;
        tasks.get(tasks.size() - 1).run();
        assertThat(inspected).hasSize(2);
    }

    @Test
    void endIsTriedAgainAfterAnError() {
        note(PAUSE, store(NOW));
        errorStrikes = true;
        assertThatThrownBy(() -> tasks.get(0).run()).isInstanceOf(OutOfMemoryError.class);
        assertThat(timers).containsExactly(10 * MINUTE + 1, 5_000L);
        tasks.get(1).run();
        note(PAUSE, store(NOW + 10 * MINUTE));
        assertThat(lifted).containsExactly(PAUSE);
    }

    @Test
    void timerStaysSetIfNoOtherCanBeSet() {
        note(PAUSE, store(NOW));
        OverrideLimit other = OverrideLimit.of(0, "bert", "").during(NOW, NOW + MINUTE);
        timersFail = true;
        assertThatThrownBy(() -> note(other, store(NOW))).isInstanceOf(OutOfMemoryError.class);
        storeFails = true;
        overrides.look("k");
        assertThat(tasks).hasSize(1);
    }

    @Test
    void limitEndsEvenIfTheClockOfTheStoreIsBehindThatOfTheTimer() {
        note(PAUSE, store(NOW));
        tasks.get(0).run();
        note(PAUSE, store(NOW + 10 * MINUTE - 20));
        note(PAUSE, store(NOW + 10 * MINUTE - 10));
        assertThat(lifted).isEmpty();
        assertThat(timers).containsExactly(10 * MINUTE + 1, 21L);
        tasks.get(1).run();
        assertThat(inspected).hasSize(2);
        note(PAUSE, store(NOW + 10 * MINUTE));
        assertThat(lifted).containsExactly(PAUSE);
        assertThat(reported).containsExactly(PAUSE);
    }

    @Test
    void changeThatCouldNotBeReadIsReadLessAndLessOftenUntilTheStoreAnswers() {
        storeFails = true;
        overrides.look("k");
        for (int i = 0; i < 8; i++) {
            tasks.get(i).run();
        }
        assertThat(timers)
                .containsExactly(5_000L, 10_000L, 20_000L, 40_000L, 80_000L, 160_000L, 320_000L, 320_000L, 320_000L);
        note(PAUSE, store(NOW));
        assertThat(reported).containsExactly(PAUSE);
        assertThat(timers).last().isEqualTo(10 * MINUTE + 1);
    }

    @Test
    void keyWithoutLimitIsReadNoMoreAfterTheAnswer() {
        storeFails = true;
        overrides.look("k");
        assertThat(tasks).hasSize(1);
        note(OverrideLimit.empty(), store(NOW));
        assertThat(tasks).isEmpty();
        assertThat(reported).isEmpty();
    }

    @Test
    void eachChangeIsReportedOnce() {
        note(PAUSE, store(NOW));
        note(PAUSE, store(NOW + 1));
        OverrideLimit other = OverrideLimit.of(0, "bert", "").during(NOW + 2, 0);
        note(other, store(NOW + 2));
        note(OverrideLimit.empty(), store(NOW + 3));
        note(OverrideLimit.empty(), store(NOW + 4));
        assertThat(reported).containsExactly(PAUSE, other, OverrideLimit.empty());
        assertThat(tasks).as("timers of limits that were replaced").isEmpty();
    }

    @Test
    void nothingHappensAfterTheEndOfTheInstance() {
        note(PAUSE, store(NOW));
        overrides.close();
        assertThat(tasks).isEmpty();
        note(OverrideLimit.of(3), store(NOW));
        assertThat(reported).containsExactly(PAUSE);
    }
}
