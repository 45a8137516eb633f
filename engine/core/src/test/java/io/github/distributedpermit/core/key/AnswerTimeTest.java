package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnswerTimeTest {

    private static final long MILLI = 1_000_000L;

    private final AnswerTime time = new AnswerTime();

    @ParameterizedTest
    @CsvSource({"0, 5", "1, 5", "5, 20", "20, 80", "60, 100", "10000, 100"})
    void sliceIsAFewUsualAnswersWithinBounds(long answerMillis, long sliceMillis) {
        for (int i = 0; i < 100; i++) {
            time.took(answerMillis * MILLI);
        }
        assertThat(time.slice()).isBetween(sliceMillis * MILLI * 99 / 100, sliceMillis * MILLI);
    }

    @ParameterizedTest
    @CsvSource({"1, 15", "5, 30"})
    void firstAnswerOfAStoreThatHadToBeConnectedToCountsLittle(long usualMillis, long mostMillis) {
        time.took(5_000 * MILLI);
        assertThat(time.slice()).isLessThanOrEqualTo(mostMillis * MILLI);
        for (int i = 0; i < 100; i++) {
            time.took(usualMillis * MILLI);
        }
        assertThat(time.slice()).isLessThanOrEqualTo(Math.max(5, 4 * usualMillis) * MILLI + MILLI / 10);
    }
}
