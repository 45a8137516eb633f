package io.github.distributedpermit.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StoreWatchTest {

    private static final long START = 5;

    private int probes;
    private final List<String> observed = new ArrayList<>();
    private final PermitObserver observer = new PermitObserver() {
        @Override
        public void storeSilent() {
            observed.add("silent");
        }

        @Override
        public void storeAnswers(Duration outage) {
            observed.add("answers after " + outage.toMillis());
        }
    };
    private final StoreWatch watch =
            new StoreWatch(100, new StoreLog("local", "", event -> event.accept(observer)), () -> probes++);

    @Test
    void failuresAreReportedOnceAfterASecondUntilTheAnswer() {
        checked(true, 0, 10);
        assertThat(watch.isReported()).isFalse();
        assertThat(observed).isEmpty();
        checked(true, 500, 1_200);
        assertThat(watch.isReported()).isTrue();
        checked(true, 1_500, 3_000);
        assertThat(watch.isReported()).isTrue();
        assertThat(probes).isOne();
        assertThat(observed).containsExactly("silent");
        checked(false, 4_000, 4_000);
        assertThat(watch.isReported()).isFalse();
        assertThat(observed).hasSize(2).last().asString().matches("answers after (39[89]\\d|4000)");
    }

    @Test
    void healthCheckThatIsAnsweredTooLateIsNoEndOfAnOutage() {
        checked(true, 0, 10);
        checked(true, 500, 1_200);
        checked(false, 1_300, 1_500);
        assertThat(watch.isReported()).isTrue();
        checked(true, 1_600, 3_000);
        assertThat(observed).containsExactly("silent");
        checked(false, 3_050, 3_050);
        assertThat(watch.isReported()).isFalse();
        assertThat(observed).hasSize(2).last().asString().matches("answers after 30[45]\\d");
    }

    @Test
    void failureLongAfterAnotherOneBeginsAnOutageOfItsOwn() {
        long hour = TimeUnit.HOURS.toMillis(1);
        checked(true, 0, 10);
        checked(true, hour, hour + 10);
        assertThat(watch.isReported()).isFalse();
        checked(true, hour + 20, hour + 1_000);
        assertThat(watch.isReported()).isTrue();
    }

    @Test
    void healthCheckEveryMinuteIsEnoughToTellThatTheStoreIsAway() {
        checked(true, 0, 10);
        checked(true, 60_000, 60_010);
        assertThat(watch.isReported()).isTrue();
    }

    @Test
    void bypassEndsOnlyWithAnAnswerOfTheMoment() {
        assertThat(watch.probeAnswered(0, 1)).isZero();
        watch.beginBypass(5);
        watch.beginBypass(6);
        assertThat(watch.probeAnswered(10, 11)).isZero();
        assertThat(watch.probeAnswered(20, 500)).isZero(); // sent long ago
        assertThat(watch.isBypassed()).isTrue();
        watch.probeFailed(null, 500, 505);
        assertThat(watch.probeAnswered(510, 511)).isZero();
        assertThat(watch.probeAnswered(610, 612)).isZero();
        assertThat(watch.probeAnswered(611, 613)).isEqualTo(608);
        assertThat(watch.isBypassed()).isFalse();
    }

    private void checked(boolean fails, long sentAt, long now) {
        watch.checked(
                fails ? PermitStoreException.passing("refused", null) : null,
                START + nanos(sentAt),
                START + nanos(now));
    }

    private static long nanos(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
