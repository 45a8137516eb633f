package io.github.distributedpermit.ui;

import static org.awaitility.Awaitility.await;

import com.example.page.Workers;
import io.github.distributedpermit.spi.PermitBackend;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/**
 * The page in a headless browser, with instances of an application that share one store. With the system property
 * {@code permit.screenshots} the tests also make the pictures of the documents.
 */
abstract class PageTest {

    static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final Path IMAGES = Path.of("..", "..", "docs", "images");

    @SuppressWarnings("NullAway.Init")
    static Chromium browser;

    final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

    @BeforeAll
    static void start() throws IOException {
        browser = new Chromium(ChromiumBinary.find());
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
    }

    @AfterEach
    void close() {
        browser.open("about:blank");
        contexts.forEach(ConfigurableApplicationContext::close);
    }

    Workers instance(PermitBackend store, WebApplicationType type, String name, boolean writes, String... others) {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Workers.class)
                .web(type)
                .initializers((GenericApplicationContext each) -> each.registerBean(PermitBackend.class, () -> store))
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "server.shutdown=immediate",
                        "spring.lifecycle.timeout-per-shutdown-phase=100ms",
                        "spring.main.banner-mode=off",
                        "distributed-permit.instance-name=" + name,
                        "management.endpoint.permits.access=" + (writes ? "unrestricted" : "read-only"),
                        "distributed-permit.permits.report-export.limit=12",
                        "distributed-permit.permits.per-tenant.limit=2",
                        "management.endpoints.web.exposure.include=permits,permitsui")
                .run(Stream.of(others).map("--"::concat).toArray(String[]::new));
        contexts.add(context);
        return context.getBean(Workers.class);
    }

    String page(int instance, String query) {
        String port = contexts.get(instance).getEnvironment().getRequiredProperty("local.server.port");
        return "http://127.0.0.1:" + port + "/actuator/permitsui" + query;
    }

    void open(int instance, String query) {
        browser.open(page(instance, query));
        await().atMost(PATIENCE).until(() -> browser.text("#live").equals("live"));
        browser.evaluate("window.confirm = question => { window.asked = question; return true; }");
    }

    /** Makes a picture of the documents, if it is wanted. Colours change gradually. */
    static void picture(String file) throws IOException {
        if (Boolean.getBoolean("permit.screenshots")) {
            await().atMost(PATIENCE)
                    .until(() ->
                            browser.evaluate("document.getAnimations().length").asInt() == 0);
            browser.screenshot(IMAGES.resolve(file));
        }
    }

    static void desktop(String colours) {
        browser.size(1280, 1000, 1, false);
        browser.colours(colours);
    }
}
