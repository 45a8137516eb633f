package io.github.distributedpermit.aop.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.micrometer.context.ContextRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Executors whose tasks take a permit each. */
class PermitExecutorsTest {

    private static final Duration SOON = Duration.ofSeconds(30);

    private final ThreadPoolExecutor threads =
            new ThreadPoolExecutor(4, 4, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    private static void run(ContextConsumer<AssertableApplicationContext> test) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        TaskExecutionAutoConfiguration.class, DistributedPermitAutoConfiguration.class))
                .withUserConfiguration(Application.class)
                .withPropertyValues(
                        "distributed-permit.backend=local",
                        "distributed-permit.permits.one.limit=1",
                        "distributed-permit.permits.two.limit=2",
                        "distributed-permit.permits.few.limit=1",
                        "distributed-permit.permits.few.max-waiting=1",
                        "distributed-permit.permits.short.limit=1",
                        "distributed-permit.permits.short.timeout=50ms")
                .run(test);
    }

    private AsyncTaskExecutor limited(AssertableApplicationContext context, String name) {
        return PermitExecutors.limited(threads, context.getBean(Permits.class).named(name));
    }

    @Test
    void noMoreTasksRunThanThereArePermits() {
        run(context -> {
            AsyncTaskExecutor executor = limited(context, "two");
            AtomicInteger running = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            List<CompletableFuture<Integer>> results = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                int number = i;
                results.add(executor.submitCompletable(() -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    running.decrementAndGet();
                    return number;
                }));
            }
            for (int i = 0; i < results.size(); i++) {
                assertThat(results.get(i)).succeedsWithin(SOON).isEqualTo(i);
            }
            assertThat(most).hasValueBetween(1, 2);
        });
    }

    @Test
    void tasksWaitInOrderAndWithoutAThread() {
        run(context -> {
            Permits permits = context.getBean(Permits.class);
            AsyncTaskExecutor executor = limited(context, "one");
            List<Integer> order = new CopyOnWriteArrayList<>();
            Permit held = permits.acquire("one");
            for (int i = 0; i < 20; i++) {
                int number = i;
                executor.execute(() -> {
                    assertThat(Permits.current("one")).isPresent();
                    order.add(number);
                });
            }
            assertThat(threads.getTaskCount()).isZero();
            held.release();
            await().atMost(SOON).until(() -> order.size() == 20);
            assertThat(order).isSorted();
            permits.acquire("one").release(); // all are returned
        });
    }

    @Test
    void taskThatMayNotWaitIsRejectedAndOneThatIsCancelledLeavesTheQueue() {
        run(context -> {
            Permits permits = context.getBean(Permits.class);
            AsyncTaskExecutor executor = limited(context, "few");
            Permit held = permits.acquire("few");
            CompletableFuture<Void> waits = executor.submitCompletable(() -> {});
            assertThat(executor.submitCompletable(() -> {}))
                    .failsWithin(SOON)
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(PermitRejectedException.class);

            waits.cancel(false);

            CompletableFuture<Void> next = executor.submitCompletable(() -> {});
            held.release();
            assertThat(next).succeedsWithin(SOON);
        });
    }

    @Test
    void taskWithoutAPermitInTimeEndsWithTheRejection() {
        run(context -> {
            Permit held = context.getBean(Permits.class).acquire("short");
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(
                            () -> limited(context, "short").submit(() -> "x").get(30, TimeUnit.SECONDS))
                    .withCauseInstanceOf(PermitRejectedException.class);
            held.release();
        });
    }

    @Test
    void permitOfATaskThatTheExecutorRejectsIsReturned() {
        run(context -> {
            threads.shutdown();
            CompletableFuture<String> result = limited(context, "one").submitCompletable(() -> "x");
            assertThat(result)
                    .failsWithin(SOON)
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(RejectedExecutionException.class);
            assertThat(context.getBean(Permits.class).tryAcquire("one")).isPresent();
        });
    }

    @Test
    void taskThatTheExecutorRejectsAtOnceIsRejectedAlsoWithoutAFuture() {
        run(context -> {
            AsyncTaskExecutor executor = limited(context, "one");
            threads.shutdown();
            await().atMost(SOON) // until the permit is at hand, so that the rejection is known at once
                    .untilAsserted(() -> assertThatExceptionOfType(TaskRejectedException.class)
                            .isThrownBy(() -> executor.execute(() -> {}))
                            .withRootCauseInstanceOf(RejectedExecutionException.class));
            context.getBean(Permits.class).acquire("one").release();
        });
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void permitOfATaskThatThrowsIsReturnedAndItWasExecuted(CapturedOutput output) {
        run(context -> {
            AsyncTaskExecutor executor = limited(context, "one");
            executor.execute(() -> {
                throw new IllegalStateException("on a thread of the pool");
            });
            context.getBean(Permits.class).acquire("one").release();
            threads.shutdown();
            threads.setRejectedExecutionHandler((task, pool) -> task.run()); // as CallerRunsPolicy before the shutdown
            executor.execute(() -> {
                throw new IllegalStateException("on the caller's thread");
            });
            context.getBean(Permits.class).acquire("one").release();
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(output)
                            .contains("on a thread of the pool")
                            .containsOnlyOnce("IllegalStateException: on the caller's thread"));
            assertThat(output).doesNotContain("was not executed");
        });
    }

    @Test
    void taskThatIsCancelledWhileItWaitsForAThreadIsNotExecuted() {
        run(context -> {
            CountDownLatch busy = new CountDownLatch(1);
            occupyAllThreads(busy);
            AtomicInteger executed = new AtomicInteger();
            CompletableFuture<Integer> task = limited(context, "one").submitCompletable(executed::incrementAndGet);
            await().atMost(SOON).until(() -> threads.getQueue().size() == 1);

            task.cancel(false);
            busy.countDown();

            context.getBean(Permits.class).acquire("one").release(); // the pool has done with it
            assertThat(executed).hasValue(0);
        });
    }

    private void occupyAllThreads(CountDownLatch end) {
        for (int i = 0; i < threads.getCorePoolSize(); i++) {
            threads.execute(() -> {
                try {
                    end.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
    }

    @Test
    void executorThatDiscardsTasksIsRefused() {
        run(context -> {
            threads.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> limited(context, "one"))
                    .withMessageContaining("Use AbortPolicy in place of DiscardPolicy");
        });
    }

    @Test
    void permitOfATaskThatTheExecutorDropsIsReturned() {
        run(context -> {
            Permits permits = context.getBean(Permits.class);
            occupyAllThreads(new CountDownLatch(1));
            CompletableFuture<Void> dropped = limited(context, "one").submitCompletable(() -> {});
            assertThat(permits.tryAcquire("one")).isEmpty();

            threads.shutdownNow();

            await().atMost(SOON).until(() -> {
                System.gc();
                return dropped.isCompletedExceptionally();
            });
            permits.acquire("one").release();
        });
    }

    @Test
    void taskOfAStoppedExecutorKeepsNoPermit() {
        run(context -> {
            ThreadPoolTaskExecutor pool = context.getBean("applicationTaskExecutor", ThreadPoolTaskExecutor.class);
            pool.stop();
            CompletableFuture<Void> task = PermitExecutors.limited(
                            pool, context.getBean(Permits.class).named("one"))
                    .submitCompletable(() -> {});
            assertThat(task)
                    .failsWithin(SOON)
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(TaskRejectedException.class);
            assertThat(context.getBean(Permits.class).tryAcquire("one")).isPresent();
        });
    }

    @Test
    void executedTaskIsRejectedAtOnceOrCancelledLater() {
        run(context -> {
            Permits permits = context.getBean(Permits.class);
            try (Permit held = permits.acquire("short");
                    Permit one = permits.acquire("few")) {
                FutureTask<String> late = new FutureTask<>(() -> "x");
                limited(context, "short").execute(late);
                await().atMost(SOON).until(late::isCancelled);

                AsyncTaskExecutor few = limited(context, "few");
                CompletableFuture<Void> waits = few.submitCompletable(() -> {});
                await().atMost(SOON) // until the first one is known to wait
                        .untilAsserted(() -> assertThatExceptionOfType(TaskRejectedException.class)
                                .isThrownBy(() -> few.execute(() -> {})));
                waits.cancel(false);
            }
        });
    }

    @Test
    void valueOfTheCallerThatCannotBeReadCostsNoPermit() {
        ContextRegistry.getInstance()
                .registerThreadLocalAccessor(
                        "limited.broken",
                        () -> {
                            throw new IllegalStateException("expected");
                        },
                        value -> {},
                        () -> {});
        try {
            run(context -> {
                assertThatIllegalStateException()
                        .isThrownBy(() -> limited(context, "one").execute(() -> {}));
                assertThat(context.getBean(Permits.class).tryAcquire("one")).isPresent();
            });
        } finally {
            ContextRegistry.getInstance().removeThreadLocalAccessor("limited.broken");
        }
    }

    @Test
    void asyncMethodsHaveTheValuesOfTheirCaller() {
        ThreadLocal<String> tenant = new ThreadLocal<>();
        ContextRegistry.getInstance().registerThreadLocalAccessor("limited.tenant", tenant);
        try {
            run(context -> {
                Permit held = context.getBean(Permits.class).acquire("one");
                tenant.set("acme");
                CompletableFuture<String> result = context.getBean(Work.class).tenant(tenant);
                tenant.remove();
                held.release();
                assertThat(result).succeedsWithin(SOON).isEqualTo("acme");
            });
        } finally {
            ContextRegistry.getInstance().removeThreadLocalAccessor("limited.tenant");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Application {

        @Bean
        Work work() {
            return new Work();
        }

        @Bean(defaultCandidate = false)
        AsyncTaskExecutor limitedExecutor(ThreadPoolTaskExecutor applicationTaskExecutor, Permits permits) {
            return PermitExecutors.limited(applicationTaskExecutor, permits.named("one"));
        }
    }

    static class Work {

        @Async("limitedExecutor")
        CompletableFuture<String> tenant(ThreadLocal<String> tenant) {
            return CompletableFuture.completedFuture(tenant.get());
        }
    }
}
