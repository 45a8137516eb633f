package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.endpoint.Exports;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.CommandTimeout;
import io.github.distributedpermit.testsupport.RedisServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The endpoint while the process of the store stands still: connections stay open, and nothing is answered. */
class FrozenStoreTest {

    private static final JsonMapper JSON = new JsonMapper();
    private static final int KEYS = 30;
    private static final int REQUESTS = 40;
    private static final Duration COMMAND = Duration.ofSeconds(1);

    /** One command time-out, and the load of other tests. A time-out for each key in turn would take longer. */
    private static final Duration BOUND = Duration.ofSeconds(20);

    private final HttpClient client = HttpClient.newHttpClient();

    private static ConfigurableApplicationContext start(WebApplicationType type, RedisServer server) {
        return new SpringApplicationBuilder(Exports.class)
                .web(type)
                .initializers(CommandTimeout.ofMillis((int) COMMAND.toMillis()))
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "server.tomcat.threads.max=10",
                        "spring.data.redis.port=" + server.port(),
                        "distributed-permit.backend=redis",
                        "distributed-permit.key-prefix=frozen-" + UUID.randomUUID(),
                        "distributed-permit.lease=60s",
                        "distributed-permit.permits.per-tenant.limit=2",
                        "management.endpoint.permits.access=unrestricted",
                        "management.endpoints.web.exposure.include=permits",
                        "spring.cloud.consul.enabled=false",
                        "spring.main.banner-mode=off")
                .run();
    }

    private CompletableFuture<HttpResponse<String>> send(
            ConfigurableApplicationContext context, String method, String path, String body) {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/" + path))
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    private static void signal(String name, long pid) throws Exception {
        assertThat(new ProcessBuilder("kill", name, Long.toString(pid)).start().waitFor())
                .isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void answersInBoundedTimeWithAProblemPerKey(WebApplicationType type) throws Exception {
        try (RedisServer server = RedisServer.started();
                ConfigurableApplicationContext context = start(type, server)) {
            Permits permits = context.getBean(Permits.class);
            List<Permit> held = new ArrayList<>();
            for (int i = 0; i < KEYS; i++) {
                held.add(permits.named("per-tenant").acquire("tenant-%02d".formatted(i)));
            }
            // the first request of a context takes longer
            assertThat(send(context, "GET", "permits/per-tenant?most=200", "")
                            .join()
                            .statusCode())
                    .isEqualTo(200);
            Matcher pid = Pattern.compile("process_id:(\\d+)").matcher(server.ask(c -> c.info("server")));
            assertThat(pid.find()).isTrue();
            long process = Long.parseLong(pid.group(1));
            signal("-STOP", process);
            try {
                checkFrozen(context);
            } finally {
                signal("-CONT", process);
            }
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(
                                    JSON.readTree(send(context, "GET", "permits/per-tenant?most=200", "")
                                                    .join()
                                                    .body())
                                            .findValues("problem"))
                            .isEmpty());
            held.forEach(Permit::release);
        }
    }

    private void checkFrozen(ConfigurableApplicationContext context) throws Exception {
        long from = System.nanoTime();
        JsonNode detail = JSON.readTree(send(context, "GET", "permits/per-tenant?most=200", "")
                .get(BOUND.toMillis(), TimeUnit.MILLISECONDS)
                .body());
        long one = System.nanoTime() - from;
        assertThat(detail.at("/keys").size()).isEqualTo(KEYS);
        detail.at("/keys").forEach(key -> {
            assertThat(key.at("/problem").asString()).as("%s", key).isNotBlank();
            assertThat(key.has("limit") || key.has("inUse") || key.has("waiting"))
                    .as("what only the store knows")
                    .isFalse();
            assertThat(key.at("/calls").size())
                    .as("what the instance itself knows")
                    .isEqualTo(1);
        });

        from = System.nanoTime();
        List<CompletableFuture<HttpResponse<String>>> many = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            many.add(send(context, "GET", "permits/per-tenant?most=200", ""));
        }
        for (CompletableFuture<HttpResponse<String>> each : many) {
            assertThat(each.get(5 * BOUND.toMillis(), TimeUnit.MILLISECONDS).statusCode())
                    .isEqualTo(200);
        }
        long together = System.nanoTime() - from;
        List<AuditEvent> audit = new CopyOnWriteArrayList<>();
        context.addApplicationListener(
                (ApplicationListener<AuditApplicationEvent>) event -> audit.add(event.getAuditEvent()));
        HttpResponse<String> refused = send(
                        context, "POST", "permits/per-tenant", "{\"key\":\"tenant-00\",\"limit\":5}")
                .get(BOUND.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.body()).contains("unknown whether the change was made", "\"outcome\":\"unknown\"");
        assertThat(audit).singleElement().satisfies(event -> {
            assertThat(event.getType()).isEqualTo("PERMITS_LIMIT_SET");
            assertThat(event.getData()).containsEntry("limit", 5).containsEntry("outcome", "unknown");
        });
        JsonNode all = JSON.readTree(send(context, "GET", "permits", "")
                .get(BOUND.toMillis(), TimeUnit.MILLISECONDS)
                .body());
        assertThat(all.at("/problem").asString()).isNotBlank();
        assertThat(all.at("/store/address").asString()).startsWith("localhost:");
        assertThat(all.at("/permits")).allSatisfy(permit -> {
            assertThat(permit.has("limit")).isFalse();
            assertThat(permit.has("statedLimit")).isTrue();
        });
        System.getLogger(FrozenStoreTest.class.getName())
                .log(
                        System.Logger.Level.INFO,
                        "Store frozen: %d keys answered after %d ms, %d requests at once after %d ms"
                                .formatted(KEYS, one / 1_000_000, REQUESTS, together / 1_000_000));
    }
}
