package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.example.endpoint.Exports;
import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.MDC;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The endpoint over HTTP, in both web stacks, and over JMX. */
class PermitsEndpointTest {

    private static final JsonMapper JSON = new JsonMapper();
    private static final Path DOCUMENT = Path.of("..", "docs", "endpoint-answers.md");

    private final HttpClient client = HttpClient.newHttpClient();

    static ConfigurableApplicationContext start(WebApplicationType type, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "server.port=0",
                "server.address=127.0.0.1",
                "distributed-permit.backend=local",
                "distributed-permit.instance-name=orders@host-1:4711",
                "distributed-permit.permits.per-tenant.limit=2",
                "distributed-permit.permits[odd name].limit=2",
                "management.endpoints.web.exposure.include=*",
                "spring.autoconfigure.exclude="
                        + "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration,"
                        + "org.springframework.boot.data.redis.autoconfigure.DataRedisReactiveAutoConfiguration",
                "spring.cloud.consul.enabled=false",
                "spring.main.banner-mode=off"));
        all.addAll(List.of(properties));
        return new SpringApplicationBuilder(Exports.class)
                .web(type)
                .properties(all.toArray(String[]::new))
                .run();
    }

    private HttpResponse<String> send(ConfigurableApplicationContext context, String method, String path, String body) {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/" + path))
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString()).join();
    }

    private JsonNode get(ConfigurableApplicationContext context, String path) {
        HttpResponse<String> answer = send(context, "GET", path, "");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JSON.readTree(answer.body());
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    @Test
    void showsWhatLiesWithinWhat() throws Exception {
        try (ConfigurableApplicationContext context = start(
                WebApplicationType.SERVLET,
                "distributed-permit.permits.tenant.limit=3",
                "distributed-permit.permits.tenant.within=total",
                "distributed-permit.permits.total.limit=20")) {
            Permits permits = context.getBean(Permits.class);
            try (Permit permit = permits.named("tenant").acquire("tenant-42")) {
                assertThat(permit.isHeld()).isTrue();
                JsonNode tenant = get(context, "permits/tenant");
                assertThat(tenant.at("/within").asString()).isEqualTo("total");
                assertThat(tenant.at("/holding").asInt()).isEqualTo(1);
                JsonNode total = get(context, "permits/total");
                assertThat(total.has("within")).isFalse();
                assertThat(total.at("/holding").asInt()).isEqualTo(1);
                assertThat(get(context, "permits").at("/permits").toString()).contains("\"within\":\"total\"");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void showsLimitMembersAndCalls(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = start(type)) {
            Exports exports = context.getBean(Exports.class);
            exports.export(); // so that there is an average
            MDC.put("traceId", "4bf92f3577b34da6a3ce929d0e0e4736");
            CompletableFuture<String> holding = exports.hold();
            MDC.clear();
            CompletableFuture<String> waiting = CompletableFuture.supplyAsync(exports::export);
            await().until(() ->
                    get(context, "permits/report-export").at("/waiting").asInt() == 1);

            JsonNode detail = get(context, "permits/report-export");
            JsonNode key = detail.at("/keys/0");
            assertThat(key.at("/limitSource").asString()).isEqualTo("annotation");
            assertThat(key.at("/key").asString()).isEqualTo("report-export");
            assertThat(key.at("/limit").asInt()).isEqualTo(1);
            assertThat(key.at("/inUse").asInt()).isEqualTo(1);
            assertThat(key.at("/members/0/name").asString()).isEqualTo("orders@host-1:4711");
            assertThat(key.at("/members/0/self").asBoolean()).isTrue();
            assertThat(key.at("/members/0/holding").asInt()).isEqualTo(1);
            assertThat(key.at("/members/0/queuePosition").asInt()).isEqualTo(1);
            assertThat(key.at("/members/0/waitingSince").asString()).startsWith("20");
            assertThat(key.at("/members/0/leaseLeftMillis").asLong()).isPositive();
            assertThat(key.at("/calls/0/state").asString()).isEqualTo("holding");
            assertThat(key.at("/calls/0/method").asString()).isEqualTo("com.example.endpoint.Exports.hold");
            assertThat(key.at("/calls/0/traceId").asString()).isEqualTo("4bf92f3577b34da6a3ce929d0e0e4736");
            assertThat(key.at("/calls/1/state").asString()).isEqualTo("waiting");
            assertThat(key.at("/calls/1/method").asString()).isEqualTo("com.example.endpoint.Exports.export");
            assertThat(key.at("/calls/1/thread").asString()).isNotBlank();
            assertThat(key.at("/calls/1").has("traceId")).isFalse();
            JsonNode all = get(context, "permits");
            assertThat(all.at("/store/backend").asString()).isEqualTo("local");
            assertThat(all.at("/permits").findValuesAsString("name"))
                    .containsExactly("odd name", "per-tenant", "report-export");
            assertSameShape("all", all);
            assertSameShape("detail", detail);
            exports.end();
            assertThat(holding.join()).isEqualTo("held");
            assertThat(waiting.join()).isEqualTo("done");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void changesAreRefusedUnlessTheApplicationAllowsThem(WebApplicationType type) {
        try (ConfigurableApplicationContext context = start(type)) {
            assertThat(send(context, "POST", "permits/report-export", "{\"limit\": 5}")
                            .statusCode())
                    .isEqualTo(405);
            assertThat(send(context, "DELETE", "permits/report-export", "").statusCode())
                    .isEqualTo(405);
            assertThat(send(context, "POST", "permits", "{\"drain\": true}").statusCode())
                    .isEqualTo(405);
            assertThat(get(context, "permits/report-export").at("/keys/0/limit").asInt())
                    .isEqualTo(1);
            for (String path : List.of("permits", "permits/report-export")) {
                assertThat(get(context, path).at("/changes").asString())
                        .contains("405", "management.endpoint.permits.access=unrestricted");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void limitIsSetAndLifted(WebApplicationType type) {
        try (ConfigurableApplicationContext context = start(type, "management.endpoint.permits.access=unrestricted")) {
            JsonNode changed = JSON.readTree(send(context, "POST", "permits/report-export", "{\"limit\": 5}")
                    .body());
            assertThat(changed.at("/override").asInt()).isEqualTo(5);
            assertSameShape("change", changed);
            assertThat(get(context, "permits").has("changes")).isFalse();
            JsonNode key = get(context, "permits/report-export").at("/keys/0");
            assertThat(key.at("/limit").asInt()).isEqualTo(5);
            assertThat(key.at("/limitSource").asString()).isEqualTo("override");

            send(context, "POST", "permits/report-export", "{\"limit\": 0}");
            JsonNode paused = get(context, "permits").at("/permits/2");
            assertThat(paused.at("/limit").asInt()).isZero();
            assertThat(paused.at("/limitSource").asString()).isEqualTo("override");
            assertThat(paused.at("/statedLimit").asInt()).isEqualTo(1);
            assertThat(paused.at("/overrides/report-export/limit").asInt(-1)).isZero();
            JsonNode pause = paused.at("/paused/0");
            assertThat(pause.at("/what").asString()).isEqualTo("key 'report-export'");
            assertThat(pause.at("/key").asString()).isEqualTo("report-export");
            assertThat(pause.at("/since")).isEqualTo(paused.at("/overrides/report-export/since"));
            assertThat(get(context, "permits/report-export").at("/paused/0")).isEqualTo(pause);

            assertThat(send(context, "DELETE", "permits/report-export", "").statusCode())
                    .isEqualTo(200);
            assertThat(get(context, "permits/report-export")
                            .at("/keys/0/limitSource")
                            .asString())
                    .isEqualTo("annotation");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void badRequestsAreAnsweredWithTheReason(WebApplicationType type) {
        try (ConfigurableApplicationContext context = start(type, "management.endpoint.permits.access=unrestricted")) {
            HttpResponse<String> unknown = send(context, "GET", "permits/no-such-name", "");
            assertThat(unknown.statusCode()).isEqualTo(404);
            assertThat(unknown.body()).contains("No permit is named 'no-such-name'");
            assertThat(send(context, "POST", "permits/no-such-name", "{\"limit\": 5}")
                            .statusCode())
                    .isEqualTo(404);
            refused(
                    context,
                    "report-export",
                    "{\"limit\": -1}",
                    "'limit' has to be from 0, which pauses, to 1000000, not -1");
            refused(context, "report-export", "{\"limit\": \"many\"}", "'limit' has to be a whole number");
            refused(context, "report-export", "{\"limit\": 99999999999}", "'limit' has to be a whole number");
            refused(context, "report-export", "{\"limit\": 1000001}", "to 1000000, not 1000001");
            refused(context, "report-export", "{}", "Give one of 'limit', 'evict' and 'call'");
            refused(
                    context,
                    "report-export",
                    "{\"limit\": 1, \"evict\": \"a\"}",
                    "Give one of 'limit', 'evict' and 'call'");
            refused(context, "report-export", "{\"evict\": \"a\"}", "No member 'a' has permits of key 'report-export'");
            refused(context, "report-export", "{\"call\": 7}", "No call 7 of this instance holds permits");
            refused(context, "report-export", "{\"call\": \"a\"}", "'call' has to be the number of a call");
            refused(
                    context,
                    "report-export",
                    "{\"limit\": 1, \"lasts\": \"long\"}",
                    "'lasts' has to be a time such as 30m");
            refused(context, "report-export", "{\"limit\": 1, \"lasts\": \"9m30\"}", "such as 30m, 9m30s");
            refused(context, "report-export", "{\"limit\": 1, \"lasts\": \"99999999999999999999h9m\"}", "'lasts' has");
            refused(context, "report-export", "{\"limit\": 1, \"lasts\": \"3000000000000h\"}", "'lasts' has");
            refused(context, "report-export", "{\"limit\": 1, \"lasts\": \"0s\"}", "'lasts' has to be from 1s");
            refused(context, "report-export", "{\"limit\": 1, \"key\": \"report-exprot\"}", "add \\\"create\\\": true");
            refused(context, "per-tenant", "{\"limit\": 1}", "give 'key'");
            refused(context, "per-tenant", "{\"limit\": 1, \"key\": \"tenant-7\"}", "No instance uses key 'tenant-7'");
            assertThat(send(
                                    context,
                                    "POST",
                                    "permits/per-tenant",
                                    "{\"limit\": 1, \"key\": \"tenant-7\", \"create\": true}")
                            .statusCode())
                    .isEqualTo(200);
            HttpResponse<String> most = send(context, "GET", "permits/report-export?most=all", "");
            assertThat(most.statusCode()).isEqualTo(400);
            assertThat(most.body()).contains("'most' has to be a whole number");
            refused(context, "", "{}", "'drain' has to be true");
            refused(context, "", "{\"drain\": true, \"member\": \"another\"}", "not 'another'");
            refused(context, "", "{\"drain\": true, \"name\": \"report-export\"}", "leave out 'name'");
            refused(
                    context,
                    "",
                    "{\"limit\": 1, \"name\": \"report-export\", \"member\": \"one\"}",
                    "'member' are for this instance");
            HttpResponse<String> lift = send(context, "DELETE", "permits/per-tenant?key=tenant-8", "");
            assertThat(lift.statusCode()).isEqualTo(400);
            assertThat(lift.body()).contains("No operator has set a limit for key 'tenant-8' of permit 'per-tenant'");
            assertThat(send(context, "GET", "permits/report-export?most=0", "").statusCode())
                    .isEqualTo(400);
            assertThat(send(context, "POST", "permits", "{\"drain\": false}").statusCode())
                    .isEqualTo(400);
            assertThat(get(context, "permits/report-export").at("/keys/0/limit").asInt())
                    .isEqualTo(1);
        }
    }

    private void refused(ConfigurableApplicationContext context, String name, String body, String reason) {
        HttpResponse<String> answer = send(context, "POST", name.isEmpty() ? "permits" : "permits/" + name, body);
        assertThat(answer.statusCode()).as(body + ": " + answer.body()).isEqualTo(400);
        assertThat(answer.body()).as(body).contains(reason);
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void whoWhenWhyAndUntilWhenAreKept(WebApplicationType type) {
        try (ConfigurableApplicationContext context = start(type, "management.endpoint.permits.access=unrestricted")) {
            List<AuditEvent> audit = new CopyOnWriteArrayList<>();
            context.addApplicationListener(
                    (ApplicationListener<AuditApplicationEvent>) event -> audit.add(event.getAuditEvent()));
            send(
                    context,
                    "POST",
                    "permits/report-export",
                    "{\"limit\": 0, \"lasts\": \"30m\", \"reason\": \"deploy\"}");

            JsonNode set = get(context, "permits/report-export").at("/keys/0/override");
            assertThat(set.at("/limit").asInt(-1)).isZero();
            assertThat(set.at("/reason").asString()).isEqualTo("deploy");
            assertThat(set.at("/by").asString()).isEqualTo("through orders@host-1:4711");
            Instant since = Instant.parse(set.at("/since").asString());
            assertThat(Instant.parse(set.at("/until").asString())).isEqualTo(since.plus(Duration.ofMinutes(30)));
            assertThat(get(context, "permits").at("/permits/2/overrides/report-export"))
                    .isEqualTo(set);
            send(context, "DELETE", "permits/report-export?reason=done", "");

            await().untilAsserted(() -> assertThat(
                            get(context, "permits").at("/events").findValuesAsString("text"))
                    .hasSize(3)
                    .contains(
                            "The limit of the operator has ended, or was lost with the data of the store",
                            "An operator lifted the limit of key 'report-export', because: done")
                    .last()
                    .asString()
                    .endsWith("set through orders@host-1:4711: deploy"));
            assertThat(audit)
                    .extracting(AuditEvent::getType)
                    .containsExactly("PERMITS_LIMIT_SET", "PERMITS_LIMIT_LIFTED");
            assertThat(audit.get(0).getData())
                    .containsEntry("permit", "report-export")
                    .containsEntry("key", "report-export")
                    .containsEntry("limit", 0)
                    .containsEntry("lasts", "PT30M")
                    .containsEntry("reason", "deploy");
            assertThat(audit.get(1).getData()).containsEntry("reason", "done");
        }
    }

    @Test
    void limitThatIsSetGetsAnEndWithoutAnotherOrigin() {
        try (ConfigurableApplicationContext context =
                start(WebApplicationType.SERVLET, "management.endpoint.permits.access=unrestricted")) {
            HttpResponse<String> none = send(context, "POST", "permits/report-export", "{\"lasts\": \"30m\"}");
            assertThat(none.statusCode()).isEqualTo(400);
            assertThat(none.body())
                    .contains("No operator has set a limit for key 'report-export'", "give a 'limit', too");

            send(context, "POST", "permits/report-export", "{\"limit\": 3, \"reason\": \"deploy\"}");
            JsonNode before = get(context, "permits/report-export").at("/keys/0/override");
            HttpResponse<String> ends = send(
                    context, "POST", "permits/report-export", "{\"lasts\": \"30m\", \"reason\": \"it was forgotten\"}");
            assertThat(ends.statusCode()).as(ends.body()).isEqualTo(200);
            assertThat(JSON.readTree(ends.body()).at("/override").asInt()).isEqualTo(3);

            JsonNode after = get(context, "permits/report-export").at("/keys/0/override");
            for (String kept : List.of("limit", "since", "by", "reason")) {
                assertThat(after.get(kept)).as(kept).isEqualTo(before.get(kept));
            }
            assertThat(before.has("until")).isFalse();
            assertThat(Instant.parse(after.at("/until").asString()))
                    .isBetween(Instant.now().plusSeconds(29 * 60), Instant.now().plusSeconds(30 * 60));
            assertThat(get(context, "permits").at("/events").findValuesAsString("text"))
                    .contains(
                            "An operator lets the limit of key 'report-export' end in 1800 s, because: it was forgotten");
        }
    }

    /** Such as a repository of audit events on a database that is away. */
    @Test
    void failingListenerOfTheAuditDoesNotMakeAChangeAFailure() {
        try (ConfigurableApplicationContext context =
                start(WebApplicationType.SERVLET, "management.endpoint.permits.access=unrestricted")) {
            context.addApplicationListener((ApplicationListener<AuditApplicationEvent>) event -> {
                throw new IllegalStateException("the audit is away");
            });
            HttpResponse<String> answer = send(context, "POST", "permits/report-export", "{\"limit\": 7}");
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(get(context, "permits/report-export").at("/keys/0/limit").asInt())
                    .isEqualTo(7);
        }
    }

    /** Containers and firewalls refuse some of these in a path. */
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void permitOfAnyNameIsShownAndChangedByItsNameInTheQueryOrTheBody(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = start(
                type, "management.endpoint.permits.access=unrestricted", "distributed-permit.permits[*].limit=7")) {
            List<String> names = List.of(
                    "reports/export",
                    "a?b#c",
                    "100% %2F",
                    "..",
                    "a;b=c",
                    "größe 漢字 🙂",
                    "\"><script>",
                    "n".repeat(1_000));
            for (String name : names) {
                NamedPermits permits = context.getBean(Permits.class).named(name);
                try (Permit permit = permits.acquire(name)) {
                    assertThat(permit.isHeld()).isTrue();
                    String query = "permits?name=" + encoded(name) + "&key=" + encoded(name);
                    String body = JSON.writeValueAsString(Map.of("name", name, "key", name, "limit", 5));
                    assertThat(send(context, "POST", "permits", body).statusCode())
                            .as(name)
                            .isEqualTo(200);
                    JsonNode shown = get(context, query);
                    assertThat(shown.at("/name").asString()).isEqualTo(name);
                    assertThat(shown.at("/keys/0/key").asString()).isEqualTo(name);
                    assertThat(shown.at("/keys/0/limit").asInt()).isEqualTo(5);
                    assertThat(send(context, "DELETE", query, "").statusCode())
                            .as(name)
                            .isEqualTo(200);
                    assertThat(get(context, query).at("/keys/0/limit").asInt()).isEqualTo(7);
                }
            }
            assertThat(send(context, "GET", "permits?name=none", "").statusCode())
                    .isEqualTo(404);
            assertThat(send(context, "POST", "permits", "{\"name\": \"none\", \"limit\": 5}")
                            .statusCode())
                    .isEqualTo(404);
            HttpResponse<String> nameless = send(context, "DELETE", "permits?key=report-export", "");
            assertThat(nameless.statusCode()).isEqualTo(400);
            assertThat(nameless.body()).contains("Give the 'name' of the permit");
        }
    }

    /** Spring Boot does it, and the documents say what follows for rules by path. */
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void nameInTheBodyReplacesThatInThePath(WebApplicationType type) {
        try (ConfigurableApplicationContext context = start(
                type, "management.endpoint.permits.access=unrestricted", "distributed-permit.permits.other.limit=2")) {
            HttpResponse<String> answer = send(
                    context,
                    "POST",
                    "permits/report-export",
                    "{\"name\": \"other\", \"key\": \"other\", \"limit\": 1}");
            assertThat(answer.body()).contains("\"name\":\"other\"");
        }
    }

    @Test
    void limitOfANameWithoutALimitIsRefusedBecauseNoCallWouldApplyIt() {
        try (ConfigurableApplicationContext context = start(
                WebApplicationType.SERVLET,
                "management.endpoint.permits.access=unrestricted",
                "distributed-permit.permits.free.limit=unlimited")) {
            for (int limit : List.of(0, 5)) {
                HttpResponse<String> answer =
                        send(context, "POST", "permits/free", "{\"key\": \"some\", \"limit\": %d}".formatted(limit));
                assertThat(answer.statusCode()).isEqualTo(400);
            }
        }
    }

    /** Boot serializes what an endpoint answers by a mapper of its own, if the answer says that it is one. */
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void settingsOfJacksonForTheApplicationDoNotReachTheAnswers(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = start(
                type,
                "management.endpoint.permits.access=unrestricted",
                "spring.jackson.property-naming-strategy=UPPER_SNAKE_CASE",
                "spring.jackson.datatype.datetime.write-dates-as-timestamps=true")) {
            Exports exports = context.getBean(Exports.class);
            CompletableFuture<String> holding = exports.hold();
            await().until(() ->
                    get(context, "permits/report-export").at("/holding").asInt() == 1);

            JsonNode detail = get(context, "permits/report-export");
            assertThat(detail.at("/keys/0/limitSource").asString()).isEqualTo("annotation");
            assertThat(detail.at("/keys/0/calls/0/since").asString()).startsWith("20");
            assertThat(get(context, "permits").at("/permits/0/limitSource").asString())
                    .isEqualTo("settings");
            assertThat(JSON.readTree(send(context, "POST", "permits/report-export", "{\"limit\": 5}")
                                    .body())
                            .at("/override")
                            .asInt())
                    .isEqualTo(5);
            assertThat(JSON.readTree(send(context, "GET", "permits/unknown", "").body())
                            .at("/message")
                            .asString())
                    .contains("unknown");
            assertThat(JSON.readTree(send(context, "POST", "permits", "{\"drain\": true}")
                                    .body())
                            .at("/draining")
                            .asBoolean())
                    .isTrue();
            exports.end();
            assertThat(holding.join()).isEqualTo("held");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void oddNamesAndKeysAreShownAsTheyAre(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = start(type)) {
            Permits permits = context.getBean(Permits.class);
            String odd = "tenants/ä ö/<img src=x onerror=alert(1)>?&#%\u001b[31m\r\nX: y\u2028";
            try (Permit one = permits.named("odd name").acquire(PermitRequest.of(odd))) {
                JsonNode byList = get(context, "permits/odd%20name");
                JsonNode byKey = get(context, "permits/odd%20name?key=" + encoded(odd));
                assertThat(byList.at("/keys/0/key").asString()).isEqualTo(odd);
                assertThat(byKey.at("/keys/0/key").asString()).isEqualTo(odd);
                assertThat(byKey.at("/keys/0/inUse").asInt()).isEqualTo(1);
                assertThat(one.isHeld()).isTrue();
            }
        }
    }

    @Test
    void keysAndNumbersAreThoseOfTheNameThatIsAskedFor() throws Exception {
        try (ConfigurableApplicationContext context = start(
                WebApplicationType.SERVLET,
                "distributed-permit.permits.one.limit=1",
                "distributed-permit.permits.two.limit=1",
                "distributed-permit.permits[shop-*].limit=5")) {
            Permits permits = context.getBean(Permits.class);
            Permit held = permits.named("one").acquire("both");
            CompletableFuture<Permit> waiting = permits.named("two").acquireAsync(PermitRequest.of("both"));
            for (String name : List.of("one", "two")) {
                JsonNode detail = get(context, "permits/" + name);
                assertThat(detail.at("/keysInUse").asInt()).as(name).isEqualTo(1);
                assertThat(detail.at("/keys/0/key").asString()).as(name).isEqualTo("both");
            }
            held.release();
            waiting.join().release();

            Permit busy = permits.acquire("shop-1");
            permits.acquire("shop-2").release();
            assertThat(get(context, "permits/shop-1").at("/holding").asInt()).isEqualTo(1);
            assertThat(get(context, "permits/shop-2").at("/holding").asInt()).isZero();
            busy.release();
        }
    }

    @Test
    void manyKeysAreCutAndTheAnswerSaysSo() throws Exception {
        try (ConfigurableApplicationContext context = start(WebApplicationType.SERVLET)) {
            Permits permits = context.getBean(Permits.class);
            List<Permit> held = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                held.add(permits.named("per-tenant").acquire("tenant-%05d".formatted(i)));
            }
            JsonNode detail = get(context, "permits/per-tenant");
            assertThat(detail.at("/keysInUse").asInt()).isEqualTo(10_000);
            assertThat(detail.at("/keys").size()).isEqualTo(20);
            assertThat(detail.at("/truncated").asBoolean()).isTrue();
            assertThat(detail.at("/hint").asString()).contains("20 of 10000").contains("?key=");
            assertThat(get(context, "permits/per-tenant?most=100000")
                            .at("/keys")
                            .size())
                    .isEqualTo(200);
            JsonNode one = get(context, "permits/per-tenant?key=tenant-09999");
            assertThat(one.at("/keys/0/inUse").asInt()).isEqualTo(1);
            assertThat(one.at("/truncated").asBoolean()).isFalse();
            held.forEach(Permit::release);
        }
    }

    @Test
    void callThatRunsWithoutItsPermitIsShownUntilItEnds() {
        try (ConfigurableApplicationContext context =
                start(WebApplicationType.SERVLET, "management.endpoint.permits.access=unrestricted")) {
            Exports exports = context.getBean(Exports.class);
            CompletableFuture<String> running = exports.hold();
            String member = get(context, "permits").at("/instance/member").asString();
            assertThat(send(context, "POST", "permits/report-export", "{\"evict\": \"" + member + "\"}")
                            .statusCode())
                    .isEqualTo(200);
            await().until(() -> get(context, "permits/report-export")
                    .at("/keys/0/calls/0/state")
                    .asString()
                    .equals("lost"));
            JsonNode key = get(context, "permits/report-export").at("/keys/0");
            assertThat(key.at("/inUse").asInt()).isZero();
            assertThat(key.at("/calls/0/method").asString()).isEqualTo("com.example.endpoint.Exports.hold");
            await().until(() ->
                    get(context, "permits").at("/permits/2/runningLost").asInt() == 1);
            assertThat(get(context, "permits/report-export").at("/runningLost").asInt())
                    .isEqualTo(1);

            exports.end();
            assertThat(running.join()).isEqualTo("held");
            assertThat(get(context, "permits/report-export").at("/keys/0/calls").size())
                    .isZero();
            await().until(() ->
                    get(context, "permits").at("/permits/2/runningLost").asInt() == 0);
        }
    }

    /** The next call gets the permit at once, and the other call of the same thread keeps its own. */
    @Test
    void permitsOfOneCallAreTaken() {
        try (ConfigurableApplicationContext context =
                start(WebApplicationType.SERVLET, "management.endpoint.permits.access=unrestricted")) {
            NamedPermits tenants = context.getBean(Permits.class).named("per-tenant");
            PermitRequest request = tenants.request("tenant-7");
            send(context, "POST", "permits/per-tenant", "{\"limit\": 2, \"key\": \"tenant-7\", \"create\": true}");
            Permit first = tenants.acquireAsync(request).join();
            Permit second = tenants.acquireAsync(request).join();
            CompletableFuture<Permit> third = tenants.acquireAsync(request);
            JsonNode calls = get(context, "permits/per-tenant").at("/keys/0/calls");
            assertThat(calls.findValuesAsString("state")).containsExactly("holding", "holding", "waiting");
            long call = calls.at("/0/call").asLong();

            HttpResponse<String> taken = send(
                    context,
                    "POST",
                    "permits/per-tenant",
                    "{\"key\": \"tenant-7\", \"call\": %d, \"reason\": \"hangs\"}".formatted(call));
            assertThat(taken.body()).contains("\"evicted\":1");
            assertThat(third).succeedsWithin(Duration.ofSeconds(30));
            assertThat(first.isHeld()).isFalse();
            assertThat(second.isHeld()).isTrue();
            JsonNode after = get(context, "permits/per-tenant").at("/keys/0");
            assertThat(after.at("/inUse").asInt()).isEqualTo(2);
            assertThat(after.at("/calls").findValuesAsString("state")).containsExactly("lost", "holding", "holding");
            assertThat(after.at("/calls/0/call").asLong()).isEqualTo(call);
            assertThat(get(context, "permits").at("/events").findValuesAsString("text"))
                    .anyMatch(text -> text.contains("took 1 permit(s) of key 'tenant-7' from call " + call)
                            && text.contains("hangs"));

            assertThat(first.release()).isFalse();
            assertThat(get(context, "permits/per-tenant").at("/keys/0/inUse").asInt())
                    .as("the end of the call returns nothing")
                    .isEqualTo(2);
            assertThat(second.release()).isTrue();
            assertThat(third.join().release()).isTrue();
            await().until(() -> get(context, "permits/per-tenant?key=tenant-7")
                            .at("/keys/0/inUse")
                            .asInt()
                    == 0);
        }
    }

    @Test
    void stackOfACallIsShownOnDemand() {
        try (ConfigurableApplicationContext context = start(WebApplicationType.SERVLET)) {
            Exports exports = context.getBean(Exports.class);
            CompletableFuture<String> holding = exports.hold();
            CompletableFuture<String> waiting = CompletableFuture.supplyAsync(exports::export);
            await().until(() ->
                    get(context, "permits/report-export").at("/waiting").asInt() == 1);
            JsonNode calls = get(context, "permits/report-export").at("/keys/0/calls");
            assertThat(calls.at("/0/onThread").asString()).as("asynchronous").isEqualTo("false");
            assertThat(calls.at("/1/onThread").asString()).isEqualTo("true");
            assertThat(calls.at("/1").has("stack")).isFalse();
            long call = calls.at("/1/call").asLong();
            // a call is counted before it parks
            await().untilAsserted(() -> {
                JsonNode shown =
                        get(context, "permits/report-export?stack=" + call).at("/keys/0/calls");
                assertThat(shown.at("/0").has("stack")).isFalse();
                assertThat(shown.at("/1/stack").toString()).contains("park", "com.example.endpoint.Exports");
            });
            HttpResponse<String> odd = send(context, "GET", "permits/report-export?stack=first", "");
            assertThat(odd.statusCode()).isEqualTo(400);
            assertThat(odd.body()).contains("'stack' has to be the number of a call");
            JsonNode asynchronous = get(
                            context,
                            "permits/report-export?stack=" + calls.at("/0/call").asLong())
                    .at("/keys/0/calls/0");
            assertThat(asynchronous.at("/state").asString()).isEqualTo("holding");
            assertThat(asynchronous.has("stack")).isFalse();
            exports.end();
            assertThat(holding.join()).isEqualTo("held");
            assertThat(waiting.join()).isEqualTo("done");
        }
    }

    /** The thread that took a permit in code may run other calls by now, also of the same method. */
    @Test
    void noStackIsShownThatMayBeOneOfAnotherCall() throws Exception {
        try (ConfigurableApplicationContext context = start(WebApplicationType.SERVLET)) {
            NamedPermits tenants = context.getBean(Permits.class).named("per-tenant");
            CountDownLatch end = new CountDownLatch(1);
            CountDownLatch begun = new CountDownLatch(1);
            List<Permit> leaked = new CopyOnWriteArrayList<>();
            CompletableFuture<Void> work = CompletableFuture.runAsync(() -> {
                leaked.add(tenants.acquireUninterruptibly(PermitRequest.of("leaking")));
                tenants.run(PermitRequest.of("working"), () -> {
                    begun.countDown();
                    begun(end);
                });
            });
            assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(stack(context, "leaking").isMissingNode()).isTrue();
            assertThat(onThread(context, "leaking").isMissingNode())
                    .as("the thread may be within the work or not")
                    .isTrue();
            assertThat(onThread(context, "working").asString()).isEqualTo("true");
            await().untilAsserted(() -> assertThat(stack(context, "working").toString())
                    .contains("CountDownLatch.await", "PermitsEndpointTest.begun"));
            end.countDown();
            work.join();
            leaked.forEach(Permit::release);
        }
    }

    private static void begun(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private JsonNode onThread(ConfigurableApplicationContext context, String key) {
        return get(context, "permits/per-tenant?key=" + key).at("/keys/0/calls/0/onThread");
    }

    /** Of the only call of the key. */
    private JsonNode stack(ConfigurableApplicationContext context, String key) {
        long call = get(context, "permits/per-tenant?key=" + key)
                .at("/keys/0/calls/0/call")
                .asLong();
        return get(context, "permits/per-tenant?key=" + key + "&stack=" + call).at("/keys/0/calls/0/stack");
    }

    @Test
    void listHasUseWaitingAndRejectionsAndTheHistoryKeepsThem() throws Exception {
        try (ConfigurableApplicationContext context = start(WebApplicationType.SERVLET)) {
            NamedPermits exports = context.getBean(Permits.class).named("report-export");
            PermitRequest request = exports.request("report-export");
            Permit held = exports.acquireAsync(request).join();
            List<CompletableFuture<Permit>> waiting =
                    List.of(exports.acquireAsync(request), exports.acquireAsync(request));
            for (int i = 0; i < 4; i++) {
                assertThat(exports.tryAcquire("report-export")).isEmpty();
            }
            await().until(() ->
                    get(context, "permits").at("/permits/2/fleet/waiting").asInt() == 2);
            JsonNode row = get(context, "permits").at("/permits/2");
            assertThat(row.at("/rejectedLately").asInt()).isEqualTo(4);
            assertThat(Instant.parse(row.at("/rejectedAt").asString()))
                    .isBetween(Instant.now().minusSeconds(60), Instant.now());
            assertThat(row.at("/failedLately").asInt()).isZero();
            assertThat(row.has("failedAt")).isFalse();
            assertThat(row.at("/fleet/waiting").asInt())
                    .isEqualTo(row.at("/waiting").asInt());
            await().until(() -> get(context, "permits").at("/permits/2").has("holdingSince"));
            JsonNode holding = get(context, "permits").at("/permits/2");
            assertThat(holding.at("/holdingAllSince").asString())
                    .isGreaterThanOrEqualTo(holding.at("/holdingSince").asString());
            assertThat(row.at("/fleet/inUse").asInt()).isEqualTo(1);
            assertThat(row.at("/fleet/fullestKey").asString()).isEqualTo("report-export");
            assertThat(row.at("/fleet/fullestInUse").asInt()).isEqualTo(1);
            assertThat(row.at("/fleet/fullestLimit").asInt()).isEqualTo(1);
            assertThat(Instant.parse(row.at("/fleet/waitingSince").asString())).isBefore(Instant.now());
            await().untilAsserted(() -> {
                JsonNode history = get(context, "permits/report-export").at("/history");
                assertThat(most(history.at("/holding"))).isEqualTo(1);
                assertThat(most(history.at("/waiting"))).isEqualTo(2);
                assertThat(sum(history.at("/rejected"))).isEqualTo(4); // maybe in two slots
            });
            assertThat(get(context, "permits/odd name".replace(" ", "%20"))
                            .at("/history/rejected")
                            .size())
                    .isEqualTo(120);
            waiting.forEach(call -> call.cancel(false));
            held.release();
        }
    }

    private static int sum(JsonNode numbers) {
        int sum = 0;
        for (JsonNode each : numbers) {
            sum += each.asInt();
        }
        return sum;
    }

    private static int most(JsonNode numbers) {
        int most = 0;
        for (JsonNode each : numbers) {
            most = Math.max(most, each.asInt());
        }
        return most;
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void allCallsOfAPermitOrOfTheApplicationArePausedAndGoOn(WebApplicationType type) {
        try (ConfigurableApplicationContext context = start(
                type,
                "management.endpoint.permits.access=unrestricted",
                "distributed-permit.permits[shop-*].limit=5",
                "spring.application.name=shop")) {
            List<AuditEvent> audit = new CopyOnWriteArrayList<>();
            context.addApplicationListener(
                    (ApplicationListener<AuditApplicationEvent>) event -> audit.add(event.getAuditEvent()));
            refused(context, "", "{\"pause\": \"perhaps\"}", "'pause' has to be true or false");
            refused(context, "", "{\"pause\": true, \"drain\": true}", "without 'drain'");
            refused(context, "", "{\"pause\": true, \"name\": \"no-such\"}", "No permit is named 'no-such'");
            refused(context, "", "{\"pause\": true, \"lasts\": \"soon\"}", "'lasts' has to be");
            for (String slip : List.of(
                    "\"key\": \"a\"",
                    "\"limit\": 0",
                    "\"evict\": \"a\"",
                    "\"call\": 1",
                    "\"create\": true",
                    "\"member\": \"a\"")) {
                refused(context, "", "{\"pause\": true, " + slip + "}", "with 'pause' also 'member'");
                refused(
                        context,
                        "",
                        "{\"pause\": true, \"name\": \"report-export\", " + slip + "}",
                        "To pause one key");
            }
            refused(context, "", "{\"pause\": false}", "Application 'shop' is not paused");
            refused(
                    context,
                    "",
                    "{\"pause\": false, \"name\": \"report-exprot\"}",
                    "Permit 'report-exprot' is not paused");
            assertThat(audit).isEmpty();

            HttpResponse<String> answer = send(
                    context,
                    "POST",
                    "permits",
                    "{\"pause\": true, \"name\": \"report-export\", \"lasts\": \"1d9m30s\", \"reason\": \"the partner is down\"}");
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            assertThat(JSON.readTree(answer.body()).at("/name").asString()).isEqualTo("report-export");
            JsonNode paused = get(context, "permits/report-export").at("/paused/0");
            assertThat(paused.at("/what").asString()).isEqualTo("permit 'report-export'");
            assertThat(paused.at("/by").asString()).isEqualTo("through orders@host-1:4711");
            assertThat(paused.at("/reason").asString()).isEqualTo("the partner is down");
            assertThat(Duration.between(
                            Instant.parse(paused.at("/since").asString()),
                            Instant.parse(paused.at("/until").asString())))
                    .isEqualTo(Duration.ofDays(1).plusMinutes(9).plusSeconds(30));
            Permits permits = context.getBean(Permits.class);
            PermitRequest impatient = PermitRequest.of("report-export").withoutWaiting();
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> permits.named("report-export").acquireUninterruptibly(impatient))
                    .withMessageContaining("an operator has paused all calls");

            send(context, "POST", "permits", "{\"pause\": true}");
            JsonNode list = get(context, "permits");
            assertThat(list.at("/application").asString()).isEqualTo("shop");
            list.at("/permits")
                    .forEach(permit ->
                            assertThat(permit.at("/paused").toString()).contains("application 'shop'"));
            send(context, "POST", "permits", "{\"pause\": false}");
            send(context, "POST", "permits", "{\"pause\": false, \"name\": \"report-export\"}");
            assertThat(get(context, "permits").at("/permits").toString()).doesNotContain("paused");

            HttpResponse<String> pattern = send(context, "POST", "permits", "{\"pause\": true, \"name\": \"shop-*\"}");
            assertThat(pattern.statusCode()).as(pattern.body()).isEqualTo(200);
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> permits.named("shop-a")
                            .acquireUninterruptibly(PermitRequest.of("a").withoutWaiting()));
            send(context, "POST", "permits", "{\"pause\": false, \"name\": \"shop-*\"}");
            refused(context, "", "{\"drain\": true, \"lasts\": \"1h\"}", "'lasts'");
            assertThat(audit)
                    .extracting(AuditEvent::getType)
                    .containsExactly(
                            "PERMITS_PAUSED",
                            "PERMITS_PAUSED",
                            "PERMITS_RESUMED",
                            "PERMITS_RESUMED",
                            "PERMITS_PAUSED",
                            "PERMITS_RESUMED");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void keysThatTheStoreHasAreListedWithoutThoseOfTheLibrary(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = start(type)) {
            Permits permits = context.getBean(Permits.class);
            try (Permit one = permits.named("odd name").acquire(PermitRequest.of("far away"));
                    Permit two = permits.named("odd name").acquire(PermitRequest.of("near"))) {
                JsonNode all = get(context, "permits/report-export?others=1000");
                assertThat(all.at("/keys").toString()).isEqualTo("[\"far away\",\"near\"]");
                assertThat(all.at("/truncated").asBoolean(true)).isFalse();
                assertThat(get(context, "permits/report-export?others=1")
                                .at("/truncated")
                                .asBoolean())
                        .isTrue();
                assertThat(get(context, "permits/odd%20name?others=1000")
                                .at("/keys")
                                .size())
                        .isZero();
                assertThat(send(context, "GET", "permits/report-export?others=none", "")
                                .statusCode())
                        .isEqualTo(400);
                assertThat(one.isHeld() && two.isHeld()).isTrue();
            }
        }
    }

    @Test
    void drainedInstanceTakesNoMorePermits() {
        try (ConfigurableApplicationContext context =
                start(WebApplicationType.SERVLET, "management.endpoint.permits.access=unrestricted")) {
            Exports exports = context.getBean(Exports.class);
            CompletableFuture<String> holding = exports.hold();
            Permits permits = context.getBean(Permits.class);
            List<CompletableFuture<Permit>> waiting = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                waiting.add(permits.named("report-export")
                        .acquireAsync(permits.named("report-export").request("report-export")));
            }
            assertThat(send(context, "POST", "permits", "{\"drain\": true}").statusCode())
                    .isEqualTo(200);
            for (CompletableFuture<Permit> call : waiting) {
                assertThat(call)
                        .failsWithin(Duration.ofSeconds(20))
                        .withThrowableThat()
                        .withMessageContaining("an operator has drained it");
            }
            assertThat(get(context, "permits").at("/instance/draining").asBoolean())
                    .isTrue();
            JsonNode drained = get(context, "permits/report-export").at("/keys/0");
            assertThat(drained.at("/inUse").asInt()).isEqualTo(1);
            assertThat(drained.at("/waiting").asInt()).isZero();
            assertThat(exports.rejection()).contains("an operator has drained it");
            exports.end();
            assertThat(holding.join()).isEqualTo("held");
        }
    }

    @Test
    void worksOverJmx() throws Exception {
        String domain = "permits-" + UUID.randomUUID();
        try (ConfigurableApplicationContext context = start(
                WebApplicationType.NONE,
                "spring.jmx.enabled=true",
                "management.endpoints.jmx.domain=" + domain,
                "management.endpoints.jmx.exposure.include=permits",
                "management.endpoint.permits.access=unrestricted")) {
            assertThat(context.isActive()).isTrue();
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName endpoint = new ObjectName(domain + ":type=Endpoint,name=Permits");
            Object all = server.invoke(endpoint, "permits", new Object[0], new String[0]);
            assertThat(all).isInstanceOf(Map.class).asString().contains("report-export");
            String text = String.class.getName();
            String number = Integer.class.getName();
            String call = Long.class.getName();
            String[] signature = {text, text, number, text, call, text, text, Boolean.class.getName()};
            Object changed = server.invoke(
                    endpoint,
                    "change",
                    new Object[] {"report-export", null, 4, null, null, "a test", "1h", null},
                    signature);
            assertThat(changed).asString().contains("override=4");
            for (Object[] odd : new Object[][] {
                {null, null, 4, null},
                {"report-export", null, -1, null},
                {"report-export", null, null, null},
                {"report-export", "\u0000\n", 1, "no-such-member"},
                {"report-export", " ", 1, null},
                {"report-export", null, Integer.MIN_VALUE, null}
            }) {
                assertThatException()
                        .as(Arrays.toString(odd))
                        .isThrownBy(() ->
                                server.invoke(endpoint, "change", Arrays.copyOf(odd, signature.length), signature));
            }
            assertThat(server.invoke(
                            endpoint,
                            "change",
                            new Object[] {"no\nname", null, 4, null, null, null, null, null},
                            signature))
                    .isNull();
            assertThatException().isThrownBy(() -> server.invoke(endpoint, "permit", new Object[0], new String[0]));
            Object one =
                    server.invoke(endpoint, "permit", new Object[] {"report-export", null, null, null}, new String[] {
                        text, text, number, call
                    });
            assertThat(one).asString().contains("limitSource=override");
        }
    }

    /** Each field of the documented example is in the answer and the other way round, but those that may be left out. */
    private static void assertSameShape(String example, JsonNode answer) {
        Set<String> documented = new TreeSet<>();
        paths("", JSON.readTree(example(example)), documented);
        Set<String> answered = new TreeSet<>();
        paths("", answer, answered);
        documented.removeIf(path -> path.matches(
                ".*(traceId|/hint|/problem|/key|queuePosition|waitingSince|holdingSince|holdingAllSince)"));
        answered.removeIf(path -> path.matches(
                ".*(traceId|/hint|/problem|/key|queuePosition|waitingSince|holdingSince|holdingAllSince)"));
        assertThat(answered).as(example).isEqualTo(documented);
    }

    private static void paths(String at, JsonNode node, Set<String> paths) {
        if (node.isArray()) {
            node.forEach(each -> paths(at + "[]", each, paths));
        } else if (node.isObject()) {
            node.properties().forEach(field -> paths(at + "/" + field.getKey(), field.getValue(), paths));
        } else {
            paths.add(at);
        }
    }

    private static String example(String name) {
        try {
            Matcher found = Pattern.compile("<!-- example: " + name + " -->\\s*```json\\s*(.*?)```", Pattern.DOTALL)
                    .matcher(Files.readString(DOCUMENT));
            assertThat(found.find()).as("example %s in %s", name, DOCUMENT).isTrue();
            return found.group(1);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
