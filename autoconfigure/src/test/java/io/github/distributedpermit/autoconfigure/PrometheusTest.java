package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.prometheusserver.PrometheusServer;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** A real Prometheus scrapes two instances on Redis, and the queries of the documents answer what the two really do. */
@ExtendWith(RedisExtension.class)
class PrometheusTest {

    private static final String KEY = "prometheus-export";
    private static final int LIMIT = 3;
    private static final int CALLS = 40;

    @TempDir
    private Path directory;

    @Test
    void queriesAnswerWhatTwoInstancesReallyDo(RedisServer redis) {
        ApplicationContextRunner instance = Starts.plain()
                .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withBean(PrometheusMeterRegistry.class, () -> new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))
                .withPropertyValues(
                        "distributed-permit.backend=redis",
                        "spring.data.redis.port=" + redis.port(),
                        "distributed-permit.metrics.fleet-refresh=200ms",
                        "distributed-permit.permits." + KEY + ".limit=" + LIMIT);
        instance.run(one -> instance.run(other -> {
            try (Scraped first = new Scraped(one);
                    Scraped second = new Scraped(other);
                    PrometheusServer prometheus = PrometheusServer.scraping(
                            directory, MonitoringFilesTest.RULES, List.of(first.port(), second.port()))) {
                check(prometheus, one.getBean(Permits.class), other.getBean(Permits.class));
            }
        }));
    }

    private static void check(PrometheusServer prometheus, Permits a, Permits b) throws Exception {
        List<CompletableFuture<Void>> calls = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            calls.add((i % 2 == 0 ? a : b).acquireAsync(KEY).thenAccept(Permit::release));
        }
        for (CompletableFuture<Void> call : calls) {
            call.get(30, TimeUnit.SECONDS);
        }
        Permit heldHere = a.acquire(KEY);
        List<Permit> heldThere = List.of(b.acquire(KEY), b.acquire(KEY));
        assertThat(a.tryAcquire(KEY)).isEmpty();
        CompletableFuture<Permit> waiting = b.acquireAsync(KEY);

        String of = "{name='" + KEY + "'}";
        answers(prometheus, "sum(distributed_permit_holders_permits%s)".formatted(of), 3);
        answers(prometheus, "sum(distributed_permit_waiters_calls%s)".formatted(of), 1);
        answers(prometheus, "max(distributed_permit_limit_permits%s)".formatted(of), LIMIT);
        answers(prometheus, "min(distributed_permit_fleet_holders_permits%s)".formatted(of), 3);
        answers(prometheus, "max(distributed_permit_fleet_holders_permits%s)".formatted(of), 3);
        answers(prometheus, "max(distributed_permit_fleet_waiters_calls%s)".formatted(of), 1);
        answers(prometheus, "max(distributed_permit_fleet_members%s)".formatted(of), 2);
        answers(
                prometheus,
                "max by (name) (distributed_permit_fleet_holders_permits%1$s / distributed_permit_fleet_limit_permits%1$s)"
                        .formatted(of),
                1);
        answers(prometheus, "sum(distributed_permit_grants_permits_total%s)".formatted(of), CALLS + 3);
        answers(
                prometheus,
                "sum(distributed_permit_wait_seconds_count{name='%s',outcome='granted'})".formatted(KEY),
                CALLS + 3);
        answers(prometheus, "sum(distributed_permit_hold_seconds_count%s)".formatted(of), CALLS);
        answers(
                prometheus,
                "sum(distributed_permit_rejections_calls_total{name='%s',reason='limit_reached'})".formatted(KEY),
                1);
        answers(prometheus, "min(distributed_permit_store_up)", 1);
        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(prometheus.numbers(
                                "sum by (instance) (distributed_permit_holders_permits%s)".formatted(of), "instance"))
                        .hasSize(2)
                        .containsValues(1.0, 2.0));
        await().ignoreExceptions()
                .until(() -> prometheus.number("max(distributed_permit_wait_longest_seconds%s)".formatted(of)) > 0.1);
        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(prometheus.alerts()).contains("PermitsFullyUsed"));
        assertThat(prometheus.alerts()).doesNotContain("PermitStoreDown", "PermitsLost");

        heldHere.release();
        heldThere.forEach(Permit::release);
        waiting.get(30, TimeUnit.SECONDS).release();
        answers(prometheus, "sum(distributed_permit_holders_permits%s)".formatted(of), 0);
        answers(prometheus, "max(distributed_permit_fleet_holders_permits%s)".formatted(of), 0);
    }

    private static void answers(PrometheusServer prometheus, String query, double expected) {
        await().ignoreExceptions()
                .pollInterval(Duration.ofMillis(200))
                .untilAsserted(
                        () -> assertThat(prometheus.number(query)).as(query).isEqualTo(expected));
    }

    /** The meters of one instance, served as the actuator serves them. */
    private static final class Scraped implements AutoCloseable {

        private final HttpServer server;

        Scraped(ApplicationContext context) throws IOException {
            PrometheusMeterRegistry registry = context.getBean(PrometheusMeterRegistry.class);
            context.getBean(Permits.class).named(KEY);
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/metrics", exchange -> {
                byte[] body = registry.scrape().getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
            });
            server.start();
        }

        int port() {
            return server.getAddress().getPort();
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }
}
