package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.isFree;
import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.core.task.TaskDecorator;
import reactor.core.publisher.Mono;

/** Methods that return futures hold their permit until the future has ended. */
class FutureMethodsTest {

    private static final ThreadLocal<String> CALLER = ThreadLocal.withInitial(() -> "none");

    private final ApplicationContextRunner runner = local().withBean(Service.class)
            .withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
            .withBean(TaskDecorator.class, () -> FutureMethodsTest::decorate)
            .withPropertyValues("spring.task.execution.thread-name-prefix=boots-");

    private final CompletableFuture<String> work = new CompletableFuture<>();

    @Test
    void withAnIdlePermitTheMethodRunsOnTheCallersThread() {
        runner.withPropertyValues("distributed-permit.defaults.linger=10ms").run(context -> {
            Service service = context.getBean(Service.class);
            // a released permit stays with this instance; the next call finds it idle unless a claim is under way
            String caller = Thread.currentThread().getName();
            for (int i = 0; i < 1000 && !service.threads().contains(caller); i++) {
                service.call(() -> CompletableFuture.completedFuture("done")).join();
            }
            assertThat(service.threads()).contains(caller);
        });
    }

    @Test
    void permitIsHeldUntilTheFutureHasEnded() {
        run(context -> {
            CompletableFuture<String> result = context.getBean(Service.class).call(() -> work);
            awaitHeld(context);
            CompletableFuture<Boolean> free = result.thenApply(value -> isFree(context, "one"));
            work.complete("done");
            assertThat(result.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(free.get(30, TimeUnit.SECONDS)).isTrue();
        });
    }

    @Test
    void errorOfTheFutureReturnsThePermit() {
        run(context -> {
            CompletableFuture<String> result = context.getBean(Service.class).call(() -> work);
            awaitHeld(context);
            IllegalStateException error = new IllegalStateException("of the work");
            work.completeExceptionally(error);
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(result::join)
                    .havingCause()
                    .isSameAs(error);
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void errorOfTheMethodEndsTheFutureAndReturnsThePermit() {
        run(context -> {
            IllegalStateException error = new IllegalStateException("of the method");
            CompletableFuture<String> result = context.getBean(Service.class).call(() -> {
                throw error;
            });
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(result::join)
                    .havingCause()
                    .isSameAs(error);
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void cancelCancelsWorkThatItCanStopAndReturnsThePermit() {
        run(context -> {
            CompletableFuture<String> stoppable = new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterruptIfRunning) {
                    return super.cancel(mayInterruptIfRunning);
                }
            };
            CompletableFuture<String> result = context.getBean(Service.class).call(() -> stoppable);
            awaitHeld(context);
            result.cancel(true);
            assertThat(stoppable).isCancelled();
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void cancelDoesNotStopTheWorkOfACompletableFutureSoThePermitIsHeldUntilItEnds() {
        holdsWhileItsWorkRuns(result -> result.cancel(true));
    }

    /** As when a client of WebFlux disconnects. */
    @Test
    void cancelOfAMonoAroundTheFutureDoesNotEither() {
        holdsWhileItsWorkRuns(result -> Mono.fromFuture(result).subscribe().dispose());
    }

    @Test
    void timeOutOfAMonoAroundTheFutureDoesNotEither() {
        holdsWhileItsWorkRuns(result -> assertThatExceptionOfType(Exception.class)
                .isThrownBy(() ->
                        Mono.fromFuture(result).timeout(Duration.ofMillis(1)).block())
                .withCauseInstanceOf(TimeoutException.class));
    }

    @Test
    void timeOutOfTheFutureDoesNotEither() {
        holdsWhileItsWorkRuns(result -> assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> result.orTimeout(1, TimeUnit.MILLISECONDS).join()));
    }

    private void holdsWhileItsWorkRuns(Consumer<CompletableFuture<String>> ending) {
        CountDownLatch end = new CountDownLatch(1);
        run(context -> {
            CompletableFuture<String> running =
                    CompletableFuture.supplyAsync(() -> awaited(end), task -> new Thread(task).start());
            CompletableFuture<String> result = context.getBean(Service.class).call(() -> running);
            awaitHeld(context);
            ending.accept(result);
            assertThat(result).isCompletedExceptionally();
            assertThat(isFree(context, "one")).isFalse();
            end.countDown();
            await().until(() -> isFree(context, "one"));
            assertThat(running).isCompletedWithValue("done");
        });
    }

    private static String awaited(CountDownLatch end) {
        try {
            end.await(30, TimeUnit.SECONDS);
            return "done";
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The permit would otherwise be granted to a call that has no caller any more. */
    @Test
    void cancelReachesAnInnerCallThatWaits() {
        run(context -> {
            Service service = context.getBean(Service.class);
            Permits permits = context.getBean(Permits.class);
            Permit taken = permits.acquire("first");
            CompletableFuture<String> inner = service.call(() -> service.two(() -> work));
            awaitHeld(context);
            inner.cancel(true);
            await().until(() -> isFree(context, "one"));
            CompletableFuture<String> inCode = service.call(() -> holding(permits.acquireAsync("first")));
            await().until(() -> !isFree(context, "one"));
            inCode.cancel(true);
            await().until(() -> isFree(context, "one"));
            taken.release();
            await().until(() -> isFree(context, "first"));
            assertThat(isFree(context, "second")).isTrue();
        });
    }

    @SuppressWarnings("unchecked") // the value is never used
    private static CompletableFuture<String> holding(CompletableFuture<?> permit) {
        return (CompletableFuture<String>) permit;
    }

    @Test
    void permitIsHeldWhileCancelledWorkGoesOn() {
        run(context -> {
            CompletableFuture<String> stubborn = new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterruptIfRunning) {
                    return false;
                }
            };
            CompletableFuture<String> result = context.getBean(Service.class).call(() -> stubborn);
            awaitHeld(context);
            result.cancel(true);
            assertThat(isFree(context, "one")).isFalse();
            stubborn.complete("late");
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void waitingCallRunsOnTheExecutorOfTheApplicationWithTheContextOfItsCaller() {
        run(context -> {
            Service service = context.getBean(Service.class);
            CompletableFuture<String> result;
            try (Permit taken = context.getBean(Permits.class).acquire("one")) {
                CALLER.set("caller");
                result = service.call(() -> CompletableFuture.completedFuture(CALLER.get()));
                CALLER.remove();
                assertThat(result).isNotDone();
                assertThat(taken.isHeld()).isTrue();
            }
            assertThat(result.get(30, TimeUnit.SECONDS)).isEqualTo("caller");
            assertThat(service.threads()).singleElement().asString().startsWith("boots-");
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void cancelWhileWaitingLeavesTheQueue() {
        leavesTheQueue(future -> future.cancel(false));
    }

    @Test
    void completionByTheCallerWhileWaitingLeavesTheQueue() {
        leavesTheQueue(future -> future.complete("instead"));
    }

    private void leavesTheQueue(Consumer<CompletableFuture<String>> ending) {
        run(context -> {
            Service service = context.getBean(Service.class);
            try (Permit taken = context.getBean(Permits.class).acquire("one")) {
                CompletableFuture<String> left = service.call(() -> work);
                CompletableFuture<String> next = service.call(() -> CompletableFuture.completedFuture("next"));
                ending.accept(left);
                taken.release();
                assertThat(next.get(30, TimeUnit.SECONDS)).isEqualTo("next");
            }
            assertThat(service.threads()).hasSize(1);
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void rejectionEndsTheFuture() {
        run(context -> {
            Service service = context.getBean(Service.class);
            try (Permit taken = context.getBean(Permits.class).acquire("one")) {
                assertThatExceptionOfType(CompletionException.class)
                        .isThrownBy(() -> service.impatient(() -> work).join())
                        .withCauseInstanceOf(PermitRejectedException.class);
                assertThat(service.answered(() -> work).toCompletableFuture().get(30, TimeUnit.SECONDS))
                        .isEqualTo("fallback LIMIT_REACHED");
                assertThat(taken.isHeld()).isTrue();
            }
            assertThat(service.threads()).isEmpty();
        });
    }

    @Test
    void cancelWhileWaitingForTheSecondPermitReturnsTheFirst() {
        run(context -> {
            Service service = context.getBean(Service.class);
            try (Permit second = context.getBean(Permits.class).acquire("second")) {
                CompletableFuture<String> waiting = service.two(() -> work);
                await().until(() -> !isFree(context, "first"));
                waiting.cancel(false);
                await().until(() -> isFree(context, "first"));
                assertThat(second.isHeld()).isTrue();
            }
            assertThat(isFree(context, "second")).isTrue();
            assertThat(service.threads()).isEmpty();
        });
    }

    @Test
    void plainFutureIsHeldUntilItHasEnded() {
        run(context -> {
            FutureTask<String> task = new FutureTask<>(() -> "done");
            Future<String> result = context.getBean(Service.class).plain(() -> task);
            awaitHeld(context);
            assertThat(result.isDone()).isFalse();
            task.run();
            assertThat(result.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(isFree(context, "one")).isTrue();

            FutureTask<String> cancelled = new FutureTask<>(() -> "never");
            Future<String> second = context.getBean(Service.class).plain(() -> cancelled);
            await().until(() -> !isFree(context, "one"));
            second.cancel(true);
            assertThat(cancelled.isCancelled()).isTrue();
            await().until(() -> isFree(context, "one"));
            assertThatExceptionOfType(CancellationException.class).isThrownBy(second::get);
        });
    }

    @Test
    void errorOfAPlainFutureReturnsThePermit() {
        run(context -> {
            FutureTask<String> task = new FutureTask<>(() -> {
                throw new IllegalStateException("of the task");
            });
            Future<String> result = context.getBean(Service.class).plain(() -> task);
            awaitHeld(context);
            task.run();
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> result.get(30, TimeUnit.SECONDS))
                    .withMessageContaining("of the task");
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void futureThatCannotBeLookedAtEndsTheCall() {
        run(context -> {
            AtomicInteger looks = new AtomicInteger();
            FutureTask<String> broken = new FutureTask<>(() -> "never") {
                @Override
                public boolean isDone() {
                    if (looks.getAndIncrement() == 0) {
                        return false;
                    }
                    throw new IllegalStateException("of the future");
                }
            };
            Future<String> result = context.getBean(Service.class).plain(() -> broken);
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> result.get(30, TimeUnit.SECONDS))
                    .withMessageContaining("of the future");
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void nullInsteadOfAFutureEndsTheCall() {
        run(context -> {
            assertThat(context.getBean(Service.class).call(() -> null).get(30, TimeUnit.SECONDS))
                    .isNull();
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void decoratorThatFailsEndsTheCallAndLosesNoPermit() {
        local().withBean(Service.class)
                .withBean(
                        TaskDecorator.class,
                        () -> task -> () -> {
                            throw new IllegalStateException("of the decorator");
                        })
                .run(this::callFailsBehindTheDecorator);
        local().withBean(Service.class)
                .withBean(TaskDecorator.class, () -> task -> {
                    throw new IllegalStateException("of the decorator");
                })
                .run(this::callFailsBehindTheDecorator);
    }

    private void callFailsBehindTheDecorator(AssertableApplicationContext context) throws InterruptedException {
        CompletableFuture<String> waiting;
        try (Permit taken = context.getBean(Permits.class).acquire("one")) {
            waiting = context.getBean(Service.class).call(() -> work);
            assertThat(taken.isHeld()).isTrue();
        }
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> waiting.orTimeout(30, TimeUnit.SECONDS).join())
                .withMessageContaining("of the decorator");
        await().until(() -> isFree(context, "one"));
    }

    @Test
    void shutdownEndsWaitingCalls() {
        List<CompletableFuture<String>> waiting = new CopyOnWriteArrayList<>();
        run(context -> {
            Permit taken = context.getBean(Permits.class).acquire("one");
            CompletableFuture<String> call = context.getBean(Service.class).call(() -> work);
            waiting.add(call);
            call.whenComplete((value, failure) -> taken.release());
        });
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> waiting.get(0).orTimeout(30, TimeUnit.SECONDS).join())
                .withCauseInstanceOf(PermitRejectedException.class);
    }

    private void run(ContextConsumer<AssertableApplicationContext> test) {
        runner.run(test);
    }

    private static void awaitHeld(AssertableApplicationContext context) {
        await().until(() -> !context.getBean(Service.class).threads().isEmpty());
        assertThat(isFree(context, "one")).isFalse();
    }

    private static Runnable decorate(Runnable task) {
        String caller = CALLER.get();
        return () -> {
            CALLER.set(caller);
            try {
                task.run();
            } finally {
                CALLER.remove();
            }
        };
    }

    static class Service {

        private final List<String> threads = new CopyOnWriteArrayList<>();

        // the fields of the proxy itself are not those of the bean
        List<String> threads() {
            return threads;
        }

        @SuppressWarnings("NullAway") // one test returns null where a future is declared
        @DistributedPermit(key = "one", limit = 1)
        public CompletableFuture<String> call(Supplier<@Nullable CompletableFuture<String>> work) {
            return ran(work);
        }

        @DistributedPermit(key = "one", limit = 1, timeout = "20ms")
        public CompletableFuture<String> impatient(Supplier<CompletableFuture<String>> work) {
            return ran(work);
        }

        @DistributedPermit(key = "one", limit = 1, block = false, fallback = "instead")
        public CompletionStage<String> answered(Supplier<CompletableFuture<String>> work) {
            return ran(work);
        }

        CompletionStage<String> instead(Supplier<CompletableFuture<String>> work, PermitRejectedException why) {
            return CompletableFuture.completedFuture("fallback " + why.reason());
        }

        @DistributedPermit(key = "first", limit = 1)
        @DistributedPermit(key = "second", limit = 1)
        public CompletableFuture<String> two(Supplier<CompletableFuture<String>> work) {
            return ran(work);
        }

        @DistributedPermit(key = "one", limit = 1)
        public Future<String> plain(Supplier<Future<String>> work) {
            return ran(work);
        }

        private <T> T ran(Supplier<T> work) {
            threads.add(Thread.currentThread().getName());
            return work.get();
        }
    }
}
