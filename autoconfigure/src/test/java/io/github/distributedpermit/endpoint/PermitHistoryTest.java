package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.autoconfigure.StubCall;
import io.github.distributedpermit.endpoint.PermitsView.History;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The numbers of the last hour, by a clock of the test. */
class PermitHistoryTest {

    private final AtomicLong now = new AtomicLong(-5_000_000_000L);
    private final PermitHistory history = new PermitHistory(now::get);

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    private void reject(String name, int calls) {
        for (int i = 0; i < calls; i++) {
            history.rejected(new StubCall(name, 1), Reason.LIMIT_REACHED, Duration.ZERO);
        }
    }

    private History of(String name) {
        return Objects.requireNonNull(history.of(name));
    }

    @Test
    void rejectionsAreCountedInEachHalfMinuteOfAnHour() {
        reject("a", 3);
        pass(PermitHistory.STEP.multipliedBy(2));
        reject("a", 5);
        History seen = of("a");
        assertThat(seen.rejected()).hasSize(120).endsWith(3, 0, 5);
        assertThat(seen.stepSeconds() * seen.rejected().size()).isEqualTo(3_600);

        pass(PermitHistory.STEP.multipliedBy(117));
        assertThat(of("a").rejected()).startsWith(3, 0, 5);
        pass(PermitHistory.STEP);
        assertThat(of("a").rejected()).startsWith(0, 5).doesNotContain(3);
        pass(Duration.ofHours(3));
        assertThat(of("a").rejected()).containsOnly(0);
        assertThat(of("b").rejected()).hasSize(120).containsOnly(0);
    }

    @Test
    void rejectedCallsOfTheLastMinuteAreCounted() {
        reject("a", 1);
        assertThat(history.rejectedLately("a")).isEqualTo(1);
        pass(Duration.ofSeconds(30));
        reject("a", 59);
        assertThat(history.rejectedLately("a")).isEqualTo(60);
        pass(Duration.ofSeconds(29));
        assertThat(history.rejectedLately("a")).isEqualTo(60);
        pass(Duration.ofSeconds(1));
        assertThat(history.rejectedLately("a")).isEqualTo(59);
        pass(Duration.ofSeconds(30));
        assertThat(history.rejectedLately("a")).isZero();
        pass(Duration.ofHours(3));
        reject("a", 2);
        assertThat(history.rejectedLately("a")).isEqualTo(2);
        assertThat(history.rejectedLately("b")).isZero();
    }

    @Test
    void failedCallsOfTheLastMinuteAreCountedApart() {
        reject("a", 1);
        for (int i = 0; i < 3; i++) {
            history.failed(new StubCall("a", 1), new IllegalStateException("no answer"), Duration.ZERO);
        }
        assertThat(history.failedLately("a")).isEqualTo(3);
        assertThat(history.rejectedLately("a")).isEqualTo(1);
        assertThat(of("a").rejected()).endsWith(1);
        assertThat(history.failedLately("b")).isZero();
        pass(Duration.ofMinutes(1));
        assertThat(history.failedLately("a")).isZero();
    }

    /** So that an incident that is over can be told from one that goes on. */
    @Test
    void lastRejectedAndFailedCallOfTheMinuteIsKnown() {
        assertThat(history.sinceRejected("a")).isNull();
        reject("a", 1);
        pass(Duration.ofMillis(1_500));
        reject("a", 1);
        pass(Duration.ofMillis(2_700));
        assertThat(history.sinceRejected("a")).isEqualTo(Duration.ofMillis(2_700));
        assertThat(history.sinceFailed("a")).isNull();
        history.failed(new StubCall("a", 1), new IllegalStateException("no answer"), Duration.ZERO);
        pass(Duration.ofSeconds(50));
        assertThat(history.sinceFailed("a")).isEqualTo(Duration.ofSeconds(50));
        pass(Duration.ofSeconds(10));
        assertThat(history.sinceRejected("a")).as("as no call is counted").isNull();
    }

    @Test
    void averageHoldIsThatOfTheCallsThatHaveEnded() {
        assertThat(history.averageHold("a")).isNull();
        history.released(new StubCall("a", 1), Duration.ofMillis(200));
        history.released(new StubCall("a", 1), Duration.ofMillis(600));
        history.released(new StubCall("b", 1), Duration.ofMillis(5));
        assertThat(history.averageHold("a")).isEqualTo(Duration.ofMillis(400));
        history.forget();
        pass(Duration.ofMinutes(90));
        history.released(new StubCall("a", 1), Duration.ofMillis(400));
        history.forget();
        assertThat(history.averageHold("a")).as("still in use").isEqualTo(Duration.ofMillis(400));
        assertThat(history.averageHold("b")).isNull();
        for (int i = 0; i < 20_000; i++) {
            history.released(new StubCall("a", 1), Duration.ofSeconds(2));
        }
        assertThat(history.averageHold("a")).isBetween(Duration.ofMillis(1_990), Duration.ofMillis(2_000));
        for (int i = 0; i < PermitHistory.MOST; i++) {
            history.released(new StubCall("tenant-" + i, 1), Duration.ofSeconds(1));
        }
        assertThat(history.size()).isEqualTo(PermitHistory.MOST);
    }

    /** Names may be made by users at run time. */
    @Test
    void namesAreBoundedAndForgottenAfterAnHour() {
        for (int i = 0; i < 3 * PermitHistory.MOST; i++) {
            reject("tenant-" + i, 1);
        }
        assertThat(history.size()).isEqualTo(PermitHistory.MOST);
        pass(Duration.ofMinutes(59));
        history.forget();
        assertThat(history.size()).isEqualTo(PermitHistory.MOST);
        pass(Duration.ofMinutes(1));
        history.forget();
        assertThat(history.size()).isZero();
        reject("other", 2);
        assertThat(of("other").rejected()).endsWith(2);
    }

    @Test
    void ofANameThatIsNotKeptNothingIsKnown() {
        for (int i = 0; i < PermitHistory.MOST; i++) {
            reject("tenant-" + i, 1);
        }
        assertThat(history.rejectedLately("other"))
                .as("nothing has happened to it")
                .isZero();
        reject("other", 3);
        assertThat(history.rejectedLately("other")).isNull();
        assertThat(history.failedLately("other")).isNull();
        assertThat(history.of("other")).isNull();
        assertThat(history.rejectedLately("tenant-7")).isEqualTo(1);
        pass(Duration.ofMinutes(1));
        assertThat(history.rejectedLately("other")).isZero();
        assertThat(history.failedLately("other")).isZero();
        assertThat(history.of("other")).as("of the last hour").isNull();
        pass(Duration.ofMinutes(59));
        assertThat(of("other").rejected()).hasSize(120).containsOnly(0);
    }
}
