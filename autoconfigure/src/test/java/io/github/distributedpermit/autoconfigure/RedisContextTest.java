package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.analysis;
import static io.github.distributedpermit.autoconfigure.Starts.plain;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.health.PermitHealthIndicator;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Whole applications on a real Redis. */
@ExtendWith({RedisExtension.class, OutputCaptureExtension.class})
class RedisContextTest {

    private static final String CANARY = "canary-password";

    @Test
    void twoApplicationsShareALimitAndLeaveNothingBehind(RedisServer server) {
        ApplicationContextRunner runner = on(server).withBean(Service.class);
        runner.run(one -> runner.run(other -> {
            Starts.connect(other);
            Service elsewhere = other.getBean(Service.class);
            try (Permit permit = one.getBean(Permits.class).acquire("context-export")) {
                assertThat(permit.isHeld()).isTrue();
                assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(elsewhere::export);
            }
            await().ignoreException(PermitRejectedException.class)
                    .untilAsserted(() -> assertThat(elsewhere.export()).isEqualTo("done"));
            assertThat(one.getBean(PermitHealthIndicator.class).health().getDetails())
                    .containsEntry("backend", "redis");
        }));
        runner.run(later -> {
            Starts.connect(later);
            await("a closed application holds nothing")
                    .atMost(Duration.ofSeconds(10)) // less than the lease
                    .until(() -> later.getBean(Permits.class)
                            .tryAcquire("context-export")
                            .map(Permit::release)
                            .isPresent());
        });
    }

    /** The connection factory has stopped by then. The permits have connections of their own, and the threads of Boot's bean. */
    @Test
    void permitThatABeanTakesWhenItIsDestroyedIsGrantedAndReturned(RedisServer server) {
        List<String> results = new CopyOnWriteArrayList<>();
        on(server).withBean(Service.class).withBean(Flush.class, results).run(context -> {
            Starts.connect(context);
            context.getBean(Flush.class);
        });
        assertThat(results).containsExactly("done");
        on(server).withBean(Service.class).run(later -> {
            Starts.connect(later);
            assertThat(later.getBean(Service.class).export())
                    .as("the permit was returned")
                    .isEqualTo("done");
        });
    }

    /** Such a factory has threads of its own, on which the permits depend. The lease is too long for anything to expire. */
    @Test
    void factoryThatEndsItsThreadsBeforeThePermitsCausesNoWarningAndLosesNoPermit(
            RedisServer server, CapturedOutput output) {
        List<String> results = new CopyOnWriteArrayList<>();
        ApplicationContextRunner runner = plain().withPropertyValues(
                        "distributed-permit.backend=redis", "distributed-permit.lease=1h")
                .withInitializer(CommandTimeout.ofSeconds(5))
                .withBean(LettuceConnectionFactory.class, "127.0.0.1", server.port())
                .withBean(Service.class);
        runner.withBean(Flush.class, results).run(context -> {
            Starts.connect(context);
            assertThat(context.getBean(Service.class).export()).isEqualTo("done");
            context.getBean(Flush.class);
        });
        assertThat(results).containsExactly("PermitBackendException");
        runner.run(later -> {
            Starts.connect(later);
            assertThat(later.getBean(Service.class).export()).isEqualTo("done");
        });
        assertThat(output).doesNotContain("do not work");
    }

    @Test
    void healthOfAServerThatMayEvictPermitsIsUpWithAWarning() {
        try (RedisServer cache = RedisServer.started("--maxmemory-policy", "allkeys-lru")) {
            on(cache).run(context -> {
                Starts.connect(context);
                PermitHealthIndicator health = context.getBean(PermitHealthIndicator.class);
                await().untilAsserted(() -> assertThat(health.health().getDetails())
                        .hasEntrySatisfying(
                                "warning",
                                warning -> assertThat((String) warning).contains("allkeys-lru")));
                assertThat(health.health().getStatus()).isEqualTo(Status.UP);
            });
        }
    }

    @Test
    void wrongPasswordIsSeenByHealthAndCallsWithoutEverBeingShown(CapturedOutput output) {
        try (RedisServer locked = RedisServer.startedWithPassword("right")) {
            on(locked)
                    .withPropertyValues("spring.data.redis.password=" + CANARY)
                    .withBean(Service.class)
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        await().untilAsserted(() -> {
                            Health health =
                                    context.getBean(PermitHealthIndicator.class).health();
                            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                            assertThat(health.getDetails().toString())
                                    .contains("password")
                                    .doesNotContain(CANARY);
                        });
                        assertThatExceptionOfType(PermitBackendException.class)
                                .isThrownBy(() -> context.getBean(Service.class).export())
                                .withMessageContaining("context-export")
                                .satisfies(failure ->
                                        assertThat(stackTrace(failure)).doesNotContain(CANARY));
                    });
            FailureAnalysis analysis = analysis(on(locked)
                    .withPropertyValues("spring.data.redis.password=" + CANARY, "distributed-permit.fail-fast=true"));
            assertThat(analysis.getDescription()).contains("password").doesNotContain(CANARY);
        }
        assertThat(output.getAll()).doesNotContain(CANARY);
    }

    @Test
    void healthRecoversWithTheServer() {
        RedisServer server = RedisServer.create();
        on(server).withInitializer(CommandTimeout.ofSeconds(1)).run(context -> {
            PermitHealthIndicator health = context.getBean(PermitHealthIndicator.class);
            assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);
            server.start();
            await().until(() -> health.health().getStatus().equals(Status.UP));
            server.stop();
            await().until(() -> health.health().getStatus().equals(Status.DOWN));
        });
        server.close();
    }

    /** By default, without a setting. */
    @Test
    void emptiedServerGrantsNoPermitThatAnotherApplicationHolds() {
        try (RedisServer server = RedisServer.started()) {
            ApplicationContextRunner runner = on(server).withBean(Service.class);
            runner.run(one -> runner.run(other -> {
                Permit held = holdWhileTheServerIsEmptied(one, other, server);

                assertThatExceptionOfType(PermitBackendException.class)
                        .isThrownBy(other.getBean(Service.class)::export)
                        .withMessageContaining("has lost the state of this key");
                assertThat(held.isHeld()).isTrue();
                held.release();
                await().ignoreExceptions()
                        .untilAsserted(
                                () -> assertThat(other.getBean(Service.class).export())
                                        .isEqualTo("done"));
            }));
        }
    }

    @Test
    void withoutAGraceAnEmptiedServerGrantsWhatAnotherApplicationHolds() {
        try (RedisServer server = RedisServer.started()) {
            ApplicationContextRunner runner = on(server)
                    .withPropertyValues("distributed-permit.redis.grace=false", "distributed-permit.lease=1h")
                    .withBean(Service.class);
            runner.run(one -> runner.run(other -> {
                holdWhileTheServerIsEmptied(one, other, server);

                assertThat(other.getBean(Service.class).export()).isEqualTo("done");
            }));
        }
    }

    /** Both applications have used the server before; one that has just started remembers nothing of it. */
    private static Permit holdWhileTheServerIsEmptied(
            AssertableApplicationContext one, AssertableApplicationContext other, RedisServer server)
            throws InterruptedException {
        other.getBean(Permits.class)
                .named("context-export")
                .acquire("another-key")
                .release();
        Permit held = one.getBean(Permits.class).acquire("context-export");
        server.ask(commands -> commands.flushall());
        return held;
    }

    private static ApplicationContextRunner on(RedisServer server) {
        return plain().withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues("distributed-permit.backend=redis")
                .withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + server.port())
                .withInitializer(CommandTimeout.ofSeconds(5));
    }

    private static String stackTrace(Throwable failure) {
        java.io.StringWriter text = new java.io.StringWriter();
        failure.printStackTrace(new java.io.PrintWriter(text));
        return text.toString();
    }

    record Flush(Service service, List<String> results) implements DisposableBean {

        @Override
        public void destroy() {
            try {
                results.add(service.export());
            } catch (PermitBackendException e) {
                results.add(e.getClass().getSimpleName());
            }
        }
    }

    static class Service {
        @DistributedPermit(key = "context-export", limit = 1, block = false)
        public String export() {
            return "done";
        }
    }
}
