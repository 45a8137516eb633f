package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Users' code on the library's threads, and on the application's. */
@ExtendWith(OutputCaptureExtension.class)
class ThreadsTest {

    private static final int CALLS = 8;
    /** More than any pool of the library and Boot's executor have threads together. */
    private static final int BURST = 150;

    private final CountDownLatch go = new CountDownLatch(1);
    private final CuttableBackend backend = new CuttableBackend();
    private final ApplicationContextRunner runner =
            Starts.withBackend(backend).withPropertyValues("distributed-permit.permits.export.limit=50");

    @AfterEach
    void letGo() {
        go.countDown();
    }

    @Test
    void lossIsToldWhileContinuationsAndOtherListenersAreBusy() {
        runner.withPropertyValues("distributed-permit.lease=900ms").run(context -> {
            Permits permits = context.getBean(Permits.class);
            occupy(permits);
            Permit slow = permits.acquire("export");
            slow.onLoss(this::busy);
            Permit quick = permits.acquire("export");
            CountDownLatch told = new CountDownLatch(1);
            quick.onLoss(told::countDown);
            backend.line = CuttableBackend.Line.SILENT;
            await().until(() -> !quick.isHeld());
            assertThat(told.await(30, TimeUnit.SECONDS)).isTrue();
            go.countDown();
        });
    }

    /** Boot's executor has eight threads, and its queue has no bound. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void continuationsMayWaitForOtherPermits(boolean onBootsExecutor) {
        boots(onBootsExecutor)
                .withPropertyValues("distributed-permit.permits.export.limit=" + (BURST + 50))
                .run(context -> {
                    Permits permits = context.getBean(Permits.class);
                    AtomicInteger done = new AtomicInteger();
                    List<CompletableFuture<Void>> calls = IntStream.range(0, BURST)
                            .mapToObj(i -> permits.acquireAsync("export").thenAccept(outer -> {
                                try (outer) {
                                    permits.acquireAsync("export")
                                            .orTimeout(20, TimeUnit.SECONDS)
                                            .join()
                                            .release();
                                    done.incrementAndGet();
                                }
                            }))
                            .toList();
                    calls.forEach(call -> call.orTimeout(30, TimeUnit.SECONDS).join());
                    assertThat(done).hasValue(BURST);
                });
    }

    /** As in an {@code @Async} method that calls a limited method and waits for its future. */
    @Test
    void tasksOfBootsExecutorMayWaitForPermits(CapturedOutput output) {
        boots(true).run(context -> {
            Permits permits = context.getBean(Permits.class);
            Executor executor = context.getBean("applicationTaskExecutor", Executor.class);
            Permit all =
                    permits.named("export").acquire(PermitRequest.of("export").withPermits(50));
            CountDownLatch waiting = new CountDownLatch(CALLS);
            List<CompletableFuture<Void>> tasks = IntStream.range(0, CALLS)
                    .mapToObj(i -> CompletableFuture.runAsync(
                            () -> {
                                CompletableFuture<Permit> permit = permits.acquireAsync("export");
                                waiting.countDown();
                                permit.join().release();
                            },
                            executor))
                    .toList();
            assertThat(waiting.await(30, TimeUnit.SECONDS)).isTrue();
            all.release();
            for (CompletableFuture<Void> task : tasks) {
                task.get(20, TimeUnit.SECONDS);
            }
            assertThat(output.getOut().split("has not begun the continuation", -1))
                    .as("one warning, not one for each task")
                    .hasSize(2);
        });
    }

    @Test
    void shutdownDoesNotWaitForBusyContinuations() {
        long[] began = {0};
        runner.withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=60s")
                .run(context -> {
                    occupy(context.getBean(Permits.class));
                    began[0] = System.nanoTime();
                });
        assertThat(Duration.ofNanos(System.nanoTime() - began[0])).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void continuationsRunOnBootsExecutor() {
        runner.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
                .withPropertyValues("spring.task.execution.thread-name-prefix=boots-")
                .run(context -> assertThat(threadOfAContinuation(context.getBean(Permits.class)))
                        .startsWith("boots-"));
    }

    @Test
    void executorOfTheApplicationPrecedesBoots() {
        ExecutorService own = Executors.newSingleThreadExecutor(task -> new Thread(task, "own"));
        try {
            runner.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
                    .withPropertyValues("spring.task.execution.mode=force")
                    .withBean("distributedPermitExecutor", Executor.class, () -> own)
                    .run(context -> assertThat(threadOfAContinuation(context.getBean(Permits.class)))
                            .isEqualTo("own"));
        } finally {
            own.shutdownNow();
        }
    }

    @Test
    void continuationThatTheExecutorRefusesRunsOnAThreadOfTheLibrary() {
        ExecutorService own = Executors.newSingleThreadExecutor();
        own.shutdown();
        runner.withBean("distributedPermitExecutor", Executor.class, () -> own)
                .run(context -> assertThat(threadOfAContinuation(context.getBean(Permits.class)))
                        .startsWith("distributed-permit-callback-"));
    }

    /** Its threads may be those of the store's client or the timers, which users' code must not hold up. */
    @Test
    void executorThatRunsTasksOnTheCallingThreadRunsThemOnAThreadOfTheLibrary() {
        runner.withBean("distributedPermitExecutor", Executor.class, () -> Runnable::run)
                .run(context -> assertThat(threadOfAContinuation(context.getBean(Permits.class)))
                        .startsWith("distributed-permit-callback-"));
    }

    /** By its policy, or because what a decorator puts around the task fails on the executor's thread. */
    @Test
    void continuationThatTheExecutorDropsRunsOnAThreadOfTheLibraryAndIsLogged(CapturedOutput output) {
        AtomicInteger dropped = new AtomicInteger();
        runner.withBean("distributedPermitExecutor", Executor.class, () -> task -> dropped.incrementAndGet())
                .run(context -> {
                    Permits permits = context.getBean(Permits.class);
                    Permit all = permits.named("export")
                            .acquire(PermitRequest.of("export").withPermits(50));
                    CompletableFuture<String> name = permits.acquireAsync("export")
                            .thenApply(permit -> {
                                permit.release();
                                return Thread.currentThread().getName();
                            });
                    all.release();
                    await().until(() -> dropped.get() == 1);
                    assertThat(name.get(30, TimeUnit.SECONDS)).startsWith("distributed-permit-callback-");
                    assertThat(output).contains("has not begun the continuation");
                });
    }

    private ApplicationContextRunner boots(boolean executor) {
        return executor
                ? runner.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
                : runner;
    }

    /** As many continuations as Boot's executor has threads by default. */
    private void occupy(Permits permits) throws InterruptedException {
        CountDownLatch busy = new CountDownLatch(CALLS);
        Permit all = permits.named("export").acquire(PermitRequest.of("export").withPermits(50));
        List<CompletableFuture<Permit>> waiting = IntStream.range(0, CALLS)
                .mapToObj(i -> permits.acquireAsync("export"))
                .toList();
        for (CompletableFuture<Permit> call : waiting) {
            CompletableFuture<Void> unused = call.thenAccept(permit -> {
                permit.release();
                busy.countDown();
                busy();
            });
        }
        all.release();
        busy.await(5, TimeUnit.SECONDS);
    }

    private void busy() {
        try {
            go.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String threadOfAContinuation(Permits permits) throws Exception {
        try (Permit all =
                permits.named("export").acquire(PermitRequest.of("export").withPermits(50))) {
            CompletableFuture<Permit> waiting = permits.acquireAsync("export");
            CompletableFuture<String> name = waiting.thenApply(permit -> {
                permit.release();
                return Thread.currentThread().getName();
            });
            all.release();
            return name.get(30, TimeUnit.SECONDS);
        }
    }
}
