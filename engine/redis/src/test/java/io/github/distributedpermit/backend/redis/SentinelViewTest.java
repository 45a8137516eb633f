package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.backend.redis.SentinelView.Answer;
import io.github.distributedpermit.backend.redis.SentinelView.Master;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which master several Sentinels name. */
class SentinelViewTest {

    private static final Master OLD = new Master("10.0.0.1", 6379);
    private static final Master NEW = new Master("10.0.0.2", 6379);

    private final SentinelView view = new SentinelView(3);

    @Test
    void newestConfigurationCountsAlsoOfOneSentinel() {
        assertThat(view.decide(List.of(old(4), old(4), old(4)))).contains(OLD);
        assertThat(view.decide(List.of(old(4), old(4), now(5)))).contains(NEW);
        assertThat(view.decide(List.of(old(4), old(4))))
                .as("that one is down now")
                .contains(OLD);
    }

    @Test
    void oneThatMissedAFailOverDoesNotLeadBack() {
        view.decide(List.of(now(5), now(5), old(4)));

        assertThat(view.decide(List.of(old(4)))).contains(NEW);
        assertThat(view.decide(List.of())).contains(NEW);
    }

    @Test
    void mostOfOneEpochCountAndOfATieThePresentStays() {
        assertThat(view.decide(List.of(old(0), now(0), now(0)))).contains(NEW);
        assertThat(view.decide(List.of(old(0), now(0)))).contains(NEW);
        assertThat(view.decide(List.of(old(-1), old(-1), now(-1)))).contains(OLD);
    }

    @Test
    void newInstallationStartsAnew() {
        view.decide(List.of(now(9), now(9), now(9)));

        assertThat(view.decide(List.of(old(0), old(0)))).contains(OLD);
    }

    private static Answer old(long epoch) {
        return new Answer(OLD, epoch);
    }

    private static Answer now(long epoch) {
        return new Answer(NEW, epoch);
    }
}
