package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Executors by property alone. */
class LimitedExecutorsTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    TaskExecutionAutoConfiguration.class,
                    DistributedPermitAutoConfiguration.class,
                    DistributedPermitDisabledAutoConfiguration.class))
            .withPropertyValues(
                    "distributed-permit.backend=local",
                    "distributed-permit.permits.export.limit=1",
                    "distributed-permit.permits.export.block=false",
                    "distributed-permit.executors.exports=export");

    @Test
    void tasksOfItTakeAPermitAndSpringBootsExecutorStaysTheUsualOne() {
        runner.withUserConfiguration(Application.class).run(context -> {
            Exports exports = context.getBean(Exports.class);
            assertThat(exports.export().get(30, TimeUnit.SECONDS)).isEqualTo(1);
            Permits permits = context.getBean(Permits.class);
            // the permit of a task is returned when it has ended, a moment after its future
            try (Permit held = await().until(() -> permits.named("export").tryAcquire("export"), Optional::isPresent)
                    .orElseThrow()) {
                assertThat(held.isHeld()).isTrue();
                CompletableFuture<Integer> rejected = exports.export();
                assertThatExceptionOfType(ExecutionException.class)
                        .isThrownBy(() -> rejected.get(30, TimeUnit.SECONDS))
                        .withCauseInstanceOf(PermitRejectedException.class);
                assertThat(exports.other().get(30, TimeUnit.SECONDS)).isEqualTo(1);
            }
            assertThat(context.getBean(TaskExecutor.class)).isInstanceOf(ThreadPoolTaskExecutor.class);
            assertThat(context.getBean(Injected.class).executor())
                    .isSameAs(context.getBean("exports"))
                    .isNotInstanceOf(ThreadPoolTaskExecutor.class);
        });
    }

    @Test
    void tasksRunWithoutALimitWherePermitsAreDisabled() {
        runner.withUserConfiguration(Application.class)
                .withPropertyValues("distributed-permit.enabled=false")
                .run(context -> assertThat(
                                context.getBean(Exports.class).export().get(30, TimeUnit.SECONDS))
                        .isEqualTo(1));
    }

    @Test
    void permitThatDoesNotExistIsRefused() {
        runner.withPropertyValues("distributed-permit.executors.exports=exprot")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .hasMessageContaining("distributed-permit.executors.exports")
                        .hasMessageContaining("distributed-permit.permits.exprot.limit"));
    }

    @Test
    void nameOfAnotherBeanIsRefused() {
        runner.withBean("exports", String.class, () -> "another bean")
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .hasMessageContaining("has a bean of that name"));
    }

    @Test
    void applicationWithoutSpringBootsExecutorIsToldWhatToDo() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(DistributedPermitAutoConfiguration.class))
                .withPropertyValues(
                        "distributed-permit.backend=local",
                        "distributed-permit.permits.export.limit=1",
                        "distributed-permit.executors.exports=export")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("applicationTaskExecutor")
                        .hasMessageContaining("PermitExecutors.limited"));
    }

    record Injected(AsyncTaskExecutor executor) {}

    static class Exports {

        @Async("exports")
        public CompletableFuture<Integer> export() {
            return CompletableFuture.completedFuture(1);
        }

        @Async
        public CompletableFuture<Integer> other() {
            return CompletableFuture.completedFuture(1);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Application {

        @Bean
        Exports asynchronous() {
            return new Exports();
        }

        @Bean
        Injected injected(@Qualifier("exports") AsyncTaskExecutor executor) {
            return new Injected(executor);
        }
    }
}
