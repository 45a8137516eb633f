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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** {@code @Async} methods take their permit where the work runs. */
class AsyncMethodsTest {

    private final ApplicationContextRunner runner = local().withBean(Service.class)
            .withUserConfiguration(AsyncEnabled.class)
            .withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
            .withPropertyValues("spring.task.execution.thread-name-prefix=boots-");

    private final CompletableFuture<String> work = new CompletableFuture<>();

    @Test
    void callerDoesNotWaitAndThreadOfTheWorkHolds() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            try (Permit taken = context.getBean(Permits.class).acquire("async")) {
                service.run(work);
                assertThat(service.threads()).isEmpty();
                assertThat(taken.isHeld()).isTrue();
            }
            await().until(() -> !service.threads().isEmpty());
            assertThat(service.threads()).singleElement().asString().startsWith("boots-");
            assertThat(isFree(context, "async")).isFalse();
            work.complete("done");
            await().until(() -> isFree(context, "async"));
        });
    }

    @Test
    void permitIsHeldUntilTheReturnedFutureHasEnded() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            CompletableFuture<String> result = service.future(work);
            await().until(() -> !service.threads().isEmpty());
            assertThat(service.threads()).singleElement().asString().startsWith("boots-");
            assertThat(isFree(context, "async")).isFalse();
            work.complete("done");
            assertThat(result.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            await().until(() -> isFree(context, "async"));
        });
    }

    @Test
    void errorOfTheWorkReleasesThePermit() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            service.run(work);
            await().until(() -> !service.threads().isEmpty());
            assertThat(isFree(context, "async")).isFalse();
            work.completeExceptionally(new IllegalStateException("of the work"));
            await().until(() -> isFree(context, "async"));
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> service.future(work).get(30, TimeUnit.SECONDS))
                    .withStackTraceContaining("of the work");
            await().until(() -> isFree(context, "async"));
        });
    }

    /** Spring's future does not pass a cancellation on to the work, which goes on with its permit. */
    @Test
    void permitIsHeldWhileTheWorkOfACancelledFutureGoesOn() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            CompletableFuture<String> result = service.future(work);
            await().until(() -> !service.threads().isEmpty());
            result.cancel(true);
            assertThat(isFree(context, "async")).isFalse();
            work.complete("done");
            await().until(() -> isFree(context, "async"));
        });
    }

    @Test
    void rejectionEndsTheFutureOrIsAnsweredByTheFallback() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            try (Permit taken = context.getBean(Permits.class).acquire("async")) {
                assertThatExceptionOfType(ExecutionException.class)
                        .isThrownBy(() -> service.rejected().get(30, TimeUnit.SECONDS))
                        .withCauseInstanceOf(PermitRejectedException.class);
                assertThat(service.answered("x").get(30, TimeUnit.SECONDS)).isEqualTo("instead of x");
                assertThat(taken.isHeld()).isTrue();
            }
            assertThat(service.answered("x").get(30, TimeUnit.SECONDS)).isEqualTo("x");
            await().until(() -> isFree(context, "async"));
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class AsyncEnabled {}

    static class Service {

        private final List<String> threads = new CopyOnWriteArrayList<>();

        // the fields of the proxy itself are not those of the bean
        List<String> threads() {
            return threads;
        }

        @Async
        @DistributedPermit(key = "async", limit = 1)
        public void run(CompletableFuture<String> work) {
            threads.add(Thread.currentThread().getName());
            work.join();
        }

        @Async
        @DistributedPermit(key = "async", limit = 1)
        public CompletableFuture<String> future(CompletableFuture<String> work) {
            threads.add(Thread.currentThread().getName());
            return work;
        }

        @Async
        @DistributedPermit(key = "async", limit = 1, block = false)
        public CompletableFuture<String> rejected() {
            return CompletableFuture.completedFuture("never");
        }

        @Async
        @DistributedPermit(key = "async", limit = 1, block = false, fallback = "instead")
        public CompletableFuture<String> answered(String value) {
            return CompletableFuture.completedFuture(value);
        }

        CompletableFuture<String> instead(String value, PermitRejectedException why) {
            return CompletableFuture.completedFuture("instead of " + value);
        }
    }
}
