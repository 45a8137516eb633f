package io.github.distributedpermit.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.page.SecuredWorkers;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.PermitBackend;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** The page and the endpoint behind Spring Security, with users who may only read, and with protection against CSRF. */
class SecuredPageTest {

    private static final String PERMIT = "/actuator/permits/report-export";
    private static final String LIMIT = "{\"key\": \"report-export\", \"limit\": 0}";
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final HttpClient client = HttpClient.newHttpClient();

    @SuppressWarnings("NullAway.Init")
    private ConfigurableApplicationContext context;

    @BeforeEach
    void start() {
        LocalPermitBackend store = new LocalPermitBackend();
        context = new SpringApplicationBuilder(SecuredWorkers.class)
                .web(WebApplicationType.SERVLET)
                .initializers((GenericApplicationContext each) -> each.registerBean(PermitBackend.class, () -> store))
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "server.shutdown=immediate",
                        "spring.lifecycle.timeout-per-shutdown-phase=100ms",
                        "spring.main.banner-mode=off",
                        "management.endpoint.permits.access=unrestricted",
                        "distributed-permit.permits.report-export.limit=12",
                        "management.endpoints.web.exposure.include=permits,permitsui")
                .run();
        context.getBean(SecuredWorkers.class).work(1);
    }

    @AfterEach
    void stop() {
        context.close();
    }

    @Test
    void nothingIsAnsweredWithoutAUser() throws Exception {
        for (String path : List.of(
                "/actuator/permitsui",
                "/actuator/permitsui/app.js",
                "/actuator/permitsui/list",
                "/actuator/permitsui/permit?name=report-export",
                "/actuator/permits",
                PERMIT)) {
            assertThat(send("GET", path, "", null, null)).as(path).isEqualTo(401);
            assertThat(send("GET", path, "", "operator:wrong", null)).as(path).isEqualTo(401);
        }
    }

    @Test
    void changesNeedTheRightAndTheToken() throws Exception {
        String token = "d9c9f2b0-7a1c-4c39-8d2f-0a6a1d9b7f10";
        for (String method : List.of("POST", "DELETE")) {
            assertThat(send(method, PERMIT, LIMIT, null, token)).as(method).isEqualTo(401);
            assertThat(send(method, PERMIT, LIMIT, "viewer:viewer", token))
                    .as(method)
                    .isEqualTo(403);
            assertThat(send(method, PERMIT, LIMIT, "operator:operator", null))
                    .as(method)
                    .isEqualTo(403);
        }
        assertThat(send("POST", "/actuator/permits", "{\"drain\": true}", "operator:operator", null))
                .isEqualTo(403);
        assertThat(limit("viewer:viewer")).contains("\"limit\":12");

        assertThat(send("POST", PERMIT, LIMIT, "operator:operator", token)).isEqualTo(200);
        assertThat(limit("viewer:viewer"))
                .contains("\"limitSource\":\"override\"")
                .contains("\"by\":\"by operator through ");
    }

    @Test
    void pageSendsTheTokenAndSaysIfItMayNot() throws IOException {
        try (Chromium browser = new Chromium(ChromiumBinary.find())) {
            browser.page("Network.enable", Map.of());
            open(browser, "operator:operator");
            setLimit(browser, "20");
            await().atMost(PATIENCE).until(() -> browser.text("#done"), text -> text.contains("20 for all instances"));

            open(browser, "viewer:viewer");
            setLimit(browser, "3");
            await().atMost(PATIENCE).until(() -> browser.text("#done"), text -> text.startsWith("Not changed"));
            waitFor(() -> browser.text("#limit-text").contains("is 20"));
        }
    }

    private static void waitFor(BooleanSupplier condition) {
        await().atMost(PATIENCE).until(condition::getAsBoolean);
    }

    private void open(Chromium browser, String user) {
        browser.open("about:blank");
        waitFor(() -> browser.text("#live").isEmpty());
        browser.page("Network.setExtraHTTPHeaders", Map.of("headers", Map.of("Authorization", basic(user))));
        browser.open("http://127.0.0.1:" + port() + "/actuator/permitsui?name=report-export");
        waitFor(() -> browser.text("#live").equals("live"));
        waitFor(() -> browser.count("#limit-form :enabled") > 1);
    }

    private static void setLimit(Chromium browser, String limit) {
        browser.evaluate("document.getElementById('limit').focus()");
        browser.evaluate("document.activeElement.select()");
        browser.type(limit);
        browser.evaluate("document.getElementById('limit-form').requestSubmit()");
    }

    private String port() {
        return context.getEnvironment().getRequiredProperty("local.server.port");
    }

    private static String basic(String user) {
        return "Basic " + Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8));
    }

    private HttpRequest.Builder request(String path, @Nullable String user) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
                .header("Content-Type", "application/json");
        if (user != null) {
            request.header("Authorization", basic(user));
        }
        return request;
    }

    private String limit(String user) throws Exception {
        return client.send(request(PERMIT, user).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    /** The status; a client that is no page of the site cannot read the cookie, so that it has no token. */
    private int send(String method, String path, String body, @Nullable String user, @Nullable String token)
            throws Exception {
        HttpRequest.Builder request = request(path, user).method(method, HttpRequest.BodyPublishers.ofString(body));
        if (token != null) {
            request.header("Cookie", "XSRF-TOKEN=" + token).header("X-XSRF-TOKEN", token);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }
}
