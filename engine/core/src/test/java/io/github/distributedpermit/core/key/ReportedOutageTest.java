package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReportedOutageTest {

    private static final long START = -5;

    private final ReportedOutage outage = new ReportedOutage();

    @Test
    void isReportedOnceAfterASecondAndLastsUntilTheAnswer() {
        assertThat(failed(0, 10)).isZero();
        assertThat(failed(500, 1_200)).isEqualTo(nanos(1_200));
        assertThat(failed(1_500, 3_000)).isZero();
        assertThat(outage.isReported()).isTrue();
        assertThat(outage.answered(START + nanos(4_000))).isEqualTo(nanos(4_000));
        assertThat(outage.isReported()).isFalse();
    }

    @Test
    void failureLongAfterAnotherOneBeginsAnOutageOfItsOwn() {
        long hour = TimeUnit.HOURS.toMillis(1);
        assertThat(failed(0, 10)).isZero();
        assertThat(failed(hour, hour + 10)).isZero();
        assertThat(failed(hour + 20, hour + 1_000)).isEqualTo(nanos(1_000));
    }

    @Test
    void healthCheckEveryMinuteIsEnoughToTellThatTheStoreIsAway() {
        assertThat(failed(0, 10)).isZero();
        assertThat(failed(60_000, 60_010)).isEqualTo(nanos(60_010));
    }

    private long failed(long sentAt, long now) {
        return outage.failed(START + nanos(sentAt), Long.MIN_VALUE, START + nanos(now));
    }

    private static long nanos(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
