package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.autoconfigure.RepeatedTasks.Task;
import io.github.distributedpermit.core.Scheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Periodic tasks go on whatever fails. */
@ExtendWith(OutputCaptureExtension.class)
class RepeatedTasksTest {

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final AtomicInteger runs = new AtomicInteger();

    @Test
    void anErrorOfATaskIsLoggedAndTheTaskRunsAgain(CapturedOutput output) {
        start(new Task(PAUSE, () -> {
            runs.incrementAndGet();
            throw new NoClassDefFoundError("planted in the test");
        }));
        scheduler.runNext();
        scheduler.runNext();
        assertThat(runs).hasValue(2);
        assertThat(output.getAll()).contains("planted in the test");
    }

    @Test
    void aTaskRunsAgainAlthoughTheSchedulerFailsOnce() {
        start(new Task(PAUSE, runs::incrementAndGet));
        scheduler.failures = 1;
        scheduler.runNext();
        scheduler.runNext();
        assertThat(runs).hasValue(2);
    }

    @Test
    void anotherTaskSchedulesOneThatTheSchedulerRefused() {
        start(new Task(PAUSE, runs::incrementAndGet), new Task(PAUSE, () -> {}));
        scheduler.failures = 10;
        scheduler.runNext();
        assertThat(scheduler.tasks).hasSize(1);
        scheduler.failures = 0;
        scheduler.runNext();
        assertThat(scheduler.tasks).hasSize(2);
        scheduler.runNext();
        scheduler.runNext();
        assertThat(runs).hasValue(2);
        assertThat(scheduler.tasks).hasSize(2);
    }

    private void start(Task... tasks) {
        new RepeatedTasks(scheduler, List.of(tasks)).begin();
    }

    /** Runs tasks when the test says so, and fails as often as the test says. */
    private static final class ManualScheduler implements Scheduler {

        final Queue<Runnable> tasks = new ArrayDeque<>();
        int failures;

        @Override
        public Timer schedule(Runnable task, long delayNanos) {
            if (failures > 0) {
                failures--;
                throw new InternalError("planted in the test");
            }
            tasks.add(task);
            return () -> tasks.remove(task);
        }

        void runNext() {
            tasks.remove().run();
        }
    }
}
