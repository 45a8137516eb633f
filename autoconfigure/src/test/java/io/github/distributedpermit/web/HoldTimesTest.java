package io.github.distributedpermit.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class HoldTimesTest {

    private final HoldTimes times = new HoldTimes();

    @Test
    void averageFollowsTheLatestTimes() {
        assertThat(times.of("report")).isNull();
        times.note("report", Duration.ofSeconds(10));
        assertThat(times.of("report")).isEqualTo(Duration.ofSeconds(10));
        times.note("report", Duration.ofSeconds(20));
        assertThat(times.of("report")).isEqualTo(Duration.ofSeconds(11));
    }

    @Test
    void nameHasTheTimesOfItsPattern() {
        times.note("tenant-*", Duration.ofSeconds(3));
        times.note("tenant-big-*", Duration.ofSeconds(30));
        times.note("tenant-7", Duration.ofSeconds(7));
        assertThat(times.of("tenant-1")).isEqualTo(Duration.ofSeconds(3));
        assertThat(times.of("tenant-big-1")).isEqualTo(Duration.ofSeconds(30));
        assertThat(times.of("tenant-7")).isEqualTo(Duration.ofSeconds(7));
        assertThat(times.of("report")).isNull();
    }
}
