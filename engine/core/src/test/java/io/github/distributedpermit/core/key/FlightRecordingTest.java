package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Member;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a recording of Java Flight Recorder shows of permits. */
class FlightRecordingTest {

    private static final String PREFIX = "io.github.distributedpermit.Permit";

    @TempDir
    private Path directory;

    @Test
    void waitsAndHoldsAreRecordedWithTheirOutcome() throws IOException, InterruptedException {
        ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
        try (Recording recording = new Recording();
                PermitEngine engine = engine(timers)) {
            recording.enable(PREFIX + "Wait").withThreshold(Duration.ZERO);
            recording.enable(PREFIX + "Hold").withThreshold(Duration.ZERO);
            engine.named("report").acquire("before").release();
            recording.start();
            Permit held = engine.named("report").acquire("report-1");
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> engine.named("report")
                            .acquire(PermitRequest.builder("report-1")
                                    .timeout(Duration.ofSeconds(3))
                                    .build()));
            held.release();
            engine.named("report").acquire("report-1").release();

            List<RecordedEvent> events = events(recording);
            assertThat(events).allSatisfy(event -> {
                assertThat(event.getString("permit")).isEqualTo("report");
                assertThat(event.getString("key")).isEqualTo("report-1");
                assertThat(event.getInt("permits")).isEqualTo(1);
            });
            assertThat(events.stream().filter(event -> isOf(event, "Wait")))
                    .extracting(event -> event.getString("outcome"))
                    .contains("granted", "timed_out");
            assertThat(events.stream()
                            .filter(event -> isOf(event, "Wait")
                                    && event.getString("outcome").equals("timed_out")))
                    .singleElement()
                    // The time-out runs from the arrival of the call, its event from a moment later.
                    .satisfies(event -> assertThat(event.getDuration()).isGreaterThanOrEqualTo(Duration.ofMillis(100)));
            assertThat(events.stream().filter(event -> isOf(event, "Hold")))
                    .hasSize(2)
                    .anySatisfy(event -> assertThat(event.getDuration()).isGreaterThanOrEqualTo(Duration.ofSeconds(3)));
        } finally {
            timers.shutdownNow();
        }
    }

    private static boolean isOf(RecordedEvent event, String kind) {
        return event.getEventType().getName().equals(PREFIX + kind);
    }

    private List<RecordedEvent> events(Recording recording) throws IOException {
        Path file = directory.resolve("permits.jfr");
        recording.stop();
        recording.dump(file);
        return RecordingFile.readAllEvents(file);
    }

    private static PermitEngine engine(ScheduledExecutorService timers) {
        return new PermitEngine(
                new LocalPermitBackend(),
                new Member("a", "a"),
                CoreSettings.DEFAULTS,
                PermitSettings.NONE,
                Map.of("report", Bench.limit(1)),
                CoreEnvironment.of(
                        System::nanoTime,
                        (task, delay) -> {
                            Future<?> set = timers.schedule(task, delay, TimeUnit.NANOSECONDS);
                            return () -> set.cancel(false);
                        },
                        Runnable::run,
                        Runnable::run,
                        Observers.NONE));
    }
}
