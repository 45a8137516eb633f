package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.consul.ConsulAutoConfiguration;

/** The meters of all instances agree with what two instances really do, in every backend. */
@ExtendWith(RedisExtension.class)
class FleetMetricsTest {

    private static final int LIMIT = 3;
    private static final int ROUNDS = 30;

    /** A key that no call uses is not inspected after a while, and then its limit is not counted. */
    private static final int IDLE = -1;

    /** Many more than the limit, which is all that an instance wants permits for. */
    private static final int WAITERS = 60;

    private static final Duration LONG = Duration.ofSeconds(30);

    private final String key = "fleet-" + UUID.randomUUID();

    @Test
    void fleetOfRedisAgrees(RedisServer server) {
        agrees(Starts.plain()
                .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues("distributed-permit.backend=redis", "spring.data.redis.port=" + server.port()));
    }

    @Test
    void fleetOfConsulAgrees() {
        agrees(Starts.plain()
                .withConfiguration(AutoConfigurations.of(ConsulAutoConfiguration.class))
                .withPropertyValues(
                        "distributed-permit.backend=consul",
                        "spring.cloud.consul.port="
                                + SharedConsul.get().address().getPort()));
    }

    @Test
    void fleetOfZooKeeperAgrees() throws Exception {
        try (TestingServer server = new TestingServer()) {
            agrees(Starts.plain()
                    .withPropertyValues(
                            "distributed-permit.backend=zookeeper",
                            "distributed-permit.zookeeper.connect-string=" + server.getConnectString()));
        }
    }

    @Test
    void fleetOfADatabaseAgrees() {
        agrees(Starts.plain()
                .withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
                .withPropertyValues(new TestDatabase().settings()));
    }

    @Test
    void fleetOfTheLocalBackendAgrees() {
        LocalPermitBackend shared = new LocalPermitBackend();
        agrees(Starts.plain().withBean("shared", PermitBackend.class, () -> shared));
    }

    private void agrees(ApplicationContextRunner runner) {
        ApplicationContextRunner instance = runner.withBean(SimpleMeterRegistry.class)
                .withPropertyValues(
                        "distributed-permit.metrics.fleet-refresh=100ms",
                        "distributed-permit.permits[" + key + "].limit=" + LIMIT);
        instance.run(one -> instance.run(other -> {
            Instance a = new Instance(
                    one.getBean(Permits.class), one.getBean(PermitEngine.class), one.getBean(MeterRegistry.class));
            Instance b = new Instance(
                    other.getBean(Permits.class),
                    other.getBean(PermitEngine.class),
                    other.getBean(MeterRegistry.class));
            List<Instance> both = List.of(a, b);

            load(both);
            awaitFleet(both, 0, 0, 0, IDLE);

            List<Permit> held =
                    new ArrayList<>(List.of(a.permits.acquire(key), a.permits.acquire(key), b.permits.acquire(key)));
            List<CompletableFuture<Permit>> waiting = new ArrayList<>();
            for (int i = 0; i < WAITERS; i++) {
                waiting.add(a.permits.acquireAsync(key));
                waiting.add(b.permits.acquireAsync(key));
            }
            waiting.add(b.permits.acquireAsync(key));
            awaitFleet(both, held.size(), waiting.size(), 2, LIMIT);
            assertThat(a.own("holders") + b.own("holders")).isEqualTo(held.size());
            assertThat(a.own("waiters") + b.own("waiters")).isEqualTo(waiting.size());

            a.engine
                    .override(key, OverrideLimit.of(LIMIT + 1))
                    .toCompletableFuture()
                    .get(30, TimeUnit.SECONDS);
            awaitFleet(both, LIMIT + 1, waiting.size() - 1, 2, LIMIT + 1);
            a.engine.override(key, OverrideLimit.empty()).toCompletableFuture().get(30, TimeUnit.SECONDS);

            held.forEach(Permit::release);
            CompletableFuture<?>[] ended = waiting.stream()
                    .map(call -> call.thenAccept(Permit::release))
                    .toArray(CompletableFuture<?>[]::new);
            CompletableFuture.allOf(ended).get(30, TimeUnit.SECONDS);
            awaitFleet(both, 0, 0, 0, IDLE);
        }));
    }

    /** Many calls of both instances; an independent count of those that run is never above what the fleet's limit allows. */
    private void load(List<Instance> instances) throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<CompletableFuture<Void>> calls = new ArrayList<>();
        for (int i = 0; i < ROUNDS * instances.size(); i++) {
            Instance instance = instances.get(i % instances.size());
            calls.add(instance.permits.acquireAsync(key).thenAccept(permit -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                double fleet = instance.fleet("holders");
                assertThat(Double.isNaN(fleet) || fleet <= LIMIT)
                        .as("holders %s", fleet)
                        .isTrue();
                running.decrementAndGet();
                permit.release();
            }));
        }
        CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
        assertThat(most.get()).isBetween(1, LIMIT);
    }

    private static void awaitFleet(List<Instance> instances, int holders, int waiters, int members, int limit) {
        await().atMost(LONG)
                .pollInterval(Duration.ofMillis(50))
                .untilAsserted(() -> assertThat(instances).allSatisfy(instance -> {
                    assertThat(instance.fleet("holders")).as("holders").isEqualTo(holders);
                    assertThat(instance.fleet("waiters")).as("waiters").isEqualTo(waiters);
                    assertThat(instance.fleet("members")).as("members").isEqualTo(members);
                    if (limit != IDLE) {
                        assertThat(instance.fleet("limit")).as("limit").isEqualTo(limit);
                    }
                }));
    }

    private final class Instance {

        final Permits permits;
        final PermitEngine engine;
        final MeterRegistry registry;

        Instance(Permits permits, PermitEngine engine, MeterRegistry registry) {
            this.permits = permits;
            this.engine = engine;
            this.registry = registry;
            permits.named(key);
        }

        double fleet(String name) {
            return gauge("distributed.permit.fleet." + name);
        }

        double own(String name) {
            return gauge("distributed.permit." + name);
        }

        private double gauge(String name) {
            return registry.get(name).tag("name", key).gauge().value();
        }
    }
}
