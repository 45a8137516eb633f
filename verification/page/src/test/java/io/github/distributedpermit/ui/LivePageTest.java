package io.github.distributedpermit.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.page.Workers;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.endpoint.PermitsEndpoint;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/**
 * The page in a headless browser, with two instances of an application that share one store. With the system property
 * {@code permit.screenshots} it also makes the pictures of the documents.
 */
class LivePageTest {

    private static final Path IMAGES = Path.of("..", "..", "docs", "images");
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String EVIL = "<img src=x onerror=\"window.evil=1\">/\"'&lt;script>";
    private static final int TAB = 9;
    private static final int ENTER = 13;

    @SuppressWarnings("NullAway.Init")
    private static Chromium browser;

    private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

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

    private Workers instance(
            PermitBackend store, WebApplicationType type, String name, boolean writes, String... others) {
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

    private String page(int instance, String query) {
        String port = contexts.get(instance).getEnvironment().getRequiredProperty("local.server.port");
        return "http://127.0.0.1:" + port + "/actuator/permitsui" + query;
    }

    private void open(int instance, String query) {
        browser.open(page(instance, query));
        await().atMost(PATIENCE).until(() -> browser.text("#live").equals("live"));
        browser.evaluate("window.confirm = question => { window.asked = question; return true; }");
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void showsTwoInstancesAndTwoHundredWaitingCalls(WebApplicationType type) throws IOException {
        LocalPermitBackend store = new LocalPermitBackend();
        Workers one = instance(store, type, "orders@host-1:8080", true);
        Workers two = instance(store, type, "orders@host-2:8080", true);
        one.work(7);
        two.work(5);
        await().atMost(PATIENCE).until(() -> one.holding() == 7 && two.holding() == 5);
        one.work(9);
        two.work(200); // known to the answering instance from the store alone
        browser.size(1280, 1500, 1, false);
        browser.colours("light");
        open(0, "?name=report-export");

        await().atMost(PATIENCE).until(() -> browser.text("#n-queue").equals("209"));
        assertThat(browser.text("#n-use")).isEqualTo("12 / 12");
        assertThat(browser.count(".seat:not(.free)")).isEqualTo(12);
        assertThat(browser.count(".dot")).isEqualTo(209);
        assertThat(browser.text("#members")).contains("orders@host-1:8080").contains("orders@host-2:8080");
        assertThat(browser.evaluate(
                                "new Set(Array.from(document.querySelectorAll('.seat,.dot'), e => e.className)).size")
                        .asInt())
                .as("colours of two instances, for seats and dots")
                .isEqualTo(4);
        assertThat(browser.text("#calls")).contains("com.example.page.Workers");
        assertThat(browser.errors()).isEmpty();
        if (type == WebApplicationType.SERVLET) {
            pictures();
        }
    }

    private static void pictures() throws IOException {
        assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
                .isLessThanOrEqualTo(1280);
        boolean wanted = Boolean.getBoolean("permit.screenshots");
        if (wanted) {
            // some seconds for the plot
            await().atMost(PATIENCE).until(() -> browser.text("#n-wait").matches("1[0-9] s"));
            picture("live-page.png");
        }
        browser.colours("dark");
        assertThat(browser.evaluate("getComputedStyle(document.body).backgroundColor")
                        .asString())
                .isEqualTo("rgb(18, 22, 28)");
        if (wanted) {
            picture("live-page-dark.png");
        }
        browser.colours("light");
        browser.size(390, 1400, 2, true);
        assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
                .as("nothing is wider than a phone")
                .isLessThanOrEqualTo(390);
        if (wanted) {
            picture("live-page-phone.png");
        }
    }

    /** Colours change gradually. */
    private static void picture(String file) throws IOException {
        await().atMost(PATIENCE)
                .until(() -> browser.evaluate("document.getAnimations().length").asInt() == 0);
        browser.screenshot(IMAGES.resolve(file));
    }

    @Test
    void limitIsChangedByKeyboard() {
        LocalPermitBackend store = new LocalPermitBackend();
        Workers one = instance(store, WebApplicationType.SERVLET, "one", true);
        Workers two = instance(store, WebApplicationType.SERVLET, "two", true);
        one.work(20);
        two.work(20);
        browser.size(1280, 1500, 1, false);
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("12 / 12"));

        browser.evaluate("document.body.focus()");
        for (int i = 0; i < 30 && !focused().equals("limit"); i++) {
            browser.press("Tab", TAB);
        }
        assertThat(focused()).isEqualTo("limit");
        browser.evaluate("document.activeElement.select()");
        browser.type("20");
        browser.press("Enter", ENTER);

        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("20 / 20"));
        await().atMost(PATIENCE).until(() -> one.holding() + two.holding() == 20);
        await().atMost(PATIENCE).until(() -> browser.text("#done").contains("20 for all instances"));
        browser.press("Tab", TAB);
        assertThat(focused()).isEqualTo("reason");
        browser.type("a deploy");
        browser.press("Tab", TAB);
        assertThat(focused()).isEqualTo("lasts");
        browser.type("20m");
        browser.press("Tab", TAB);
        browser.press("Tab", TAB);
        assertThat(focused()).isEqualTo("pause");
        browser.press("Enter", ENTER);
        await().atMost(PATIENCE).until(() -> browser.text("#seats-text").startsWith("Paused"));
        assertThat(browser.evaluate("window.asked").asString())
                .startsWith("Pause report-export of report-export for all instances?");
        assertThat(browser.text("#limit-text")).contains("Set through one").contains("ends in 20 min: a deploy");
        assertThat(browser.text("#events")).contains("set through one: a deploy");
        assertThat(browser.count(".seat.over")).isEqualTo(20);
        browser.evaluate("document.getElementById('lift').click()");
        await().atMost(PATIENCE).until(() -> browser.text("#limit-text").contains("from the settings"));
    }

    @Test
    void limitOfAKeyThatIsNotInUseIsChanged() {
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.text("#limit-text").contains("name the key"));
        assertThat(browser.evaluate("document.getElementById('idle-key').value").asString())
                .isEqualTo("report-export");
        browser.evaluate("document.getElementById('limit').value = 3");
        browser.evaluate("document.getElementById('limit-form').requestSubmit()");
        await().atMost(PATIENCE).until(() -> browser.text("#done").contains("3 for all instances"));

        one.work(5);
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("3 / 3"));
        assertThat(browser.evaluate("document.getElementById('idle-key').hidden")
                        .asBoolean())
                .isTrue();
        assertThat(browser.errors()).isEmpty();
    }

    /** Until the first answer has come, the page knows no key of the permit that was chosen. */
    @Test
    void keyOfAnotherPermitIsNotChangedJustAfterTheChoice() {
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.text("#limit-text").contains("name the key"));
        one.work(1);
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("1 / 12"));
        assertThat(browser.count("#members button")).isEqualTo(1);
        browser.evaluate("""
                (() => {
                  const send = window.fetch;
                  window.sent = [];
                  window.fetch = (to, what) => { if (what.method) window.sent.push(to + ' ' + what.body); return send(to, what); };
                })()""");

        // no answer comes within one script
        String changeable = browser.evaluate("""
                        (() => {
                          const $ = id => document.getElementById(id);
                          $('name').value = 'per-tenant';
                          $('name').dispatchEvent(new Event('change'));
                          $('pause').click();
                          $('lift').click();
                          return Array.from(document.querySelectorAll('#limit-form :enabled, #members button, #key option'),
                              e => e.outerHTML).join();
                        })()""").asString();
        assertThat(sent()).isEmpty();
        assertThat(changeable).isEmpty();

        await().atMost(PATIENCE).until(() -> browser.count("#pause:enabled") == 1);
        assertThat(browser.evaluate("document.getElementById('idle-key').value").asString())
                .isEqualTo("per-tenant");
        browser.evaluate("document.getElementById('pause').click()");
        await().atMost(PATIENCE).until(() -> browser.text("#done").startsWith("Paused per-tenant:"));
        assertThat(sent()).isEqualTo("permits/per-tenant {\"key\":\"per-tenant\",\"limit\":0}");
        assertThat(browser.errors()).isEmpty();
    }

    private static String sent() {
        return browser.evaluate("window.sent.join(', ')").asString();
    }

    private static String focused() {
        return browser.evaluate("document.activeElement ? document.activeElement.id : ''")
                .asString();
    }

    @ParameterizedTest
    @CsvSource({
        "false, management.endpoints.access.default=unrestricted",
        "true, management.endpoint.permits.access=read-only",
        "true, management.endpoints.access.max-permitted=read-only"
    })
    void withoutTheRightToChangeTheButtonsAreDisabled(boolean writes, String access) {
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", writes, access);
        one.work(1);
        open(0, "?name=report-export");

        await().atMost(PATIENCE).until(() -> browser.text("#limit-text").contains("may not change"));
        assertThat(browser.count("#limit-form :enabled")).isZero();
        assertThat(browser.count("#members button")).isZero();
    }

    @Test
    void keysAndNamesAreTextAndNoMarkup() {
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, EVIL, true);
        one.hold("per-tenant", EVIL);
        open(0, "?name=per-tenant");

        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("1 / 2"));
        assertThat(browser.evaluate("document.getElementById('key').value").asString())
                .isEqualTo(EVIL);
        assertThat(browser.text("#where")).contains(EVIL);
        assertThat(browser.text("#members")).contains(EVIL);
        assertThat(browser.count("img")).isZero();
        assertThat(browser.evaluate("window.evil === undefined").asBoolean()).isTrue();
        assertThat(browser.count("[onerror]")).isZero();
    }

    /** The last known state stays, greyed and with its age; nothing that is unknown looks like a number. */
    @Test
    void storeThatDoesNotAnswerIsShownAsThat() throws IOException {
        SilentBackend store = new SilentBackend();
        Workers one = instance(store, WebApplicationType.SERVLET, "one", true);
        one.work(3);
        browser.size(1280, 1500, 1, false);
        browser.colours("light");
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("3 / 12"));
        assertThat(browser.count("body.stale")).isZero();

        store.silent = true;
        await().atMost(PATIENCE).until(() -> browser.count("body.stale") == 1);
        assertThat(browser.text("#stale"))
                .contains("The store silent at store.example:4711 does not answer")
                .containsPattern("What is shown is [0-9.]+ s old");
        assertThat(browser.text("#live")).isEqualTo("the store does not answer");
        assertThat(browser.text("#n-use")).isEqualTo("3 / 12");
        assertThat(browser.text("#limit-text")).startsWith("The last known limit is 12");
        assertThat(browser.text("#plot-text")).contains("last known");
        assertThat(browser.text("#calls")).as("the instance itself knows").contains("holds");
        if (Boolean.getBoolean("permit.screenshots")) {
            picture("live-page-store-down.png");
        }
        browser.evaluate("document.getElementById('limit').value = 5");
        browser.evaluate("document.getElementById('limit-form').requestSubmit()");
        await().atMost(PATIENCE).until(() -> browser.text("#done").contains("unknown whether the change was made"));

        browser.open(page(0, "?name=report-export"));
        await().atMost(PATIENCE).until(() -> browser.text("#stale").contains("Nothing is known yet"));
        assertThat(browser.text("#n-use")).isEqualTo("–");
        assertThat(browser.text("#seats-text")).startsWith("Unknown");
        assertThat(browser.text("#members")).startsWith("Unknown");
        browser.evaluate("document.getElementById('limit').value = 5");
        browser.evaluate("document.getElementById('limit-form').requestSubmit()");
        await().atMost(PATIENCE).until(() -> browser.text("#done").contains("unknown whether the change was made"));

        store.silent = false;
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("3 / 12"));
        await().atMost(PATIENCE)
                .until(() -> browser.text("#done").equals("The limit of report-export in force is 12."));
        assertThat(browser.count("body.stale")).isZero();
        assertThat(browser.text("#live")).isEqualTo("live");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void instanceThatDoesNotAnswerIsShownAsThat() {
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        one.work(3);
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("3 / 12"));
        browser.evaluate("window.fetch = () => new Promise(() => {})");
        await().atMost(PATIENCE).until(() -> browser.count("body.stale") == 1);
        assertThat(browser.text("#stale")).startsWith("The instance one does not answer. What is shown is");
        assertThat(browser.text("#live")).isEqualTo("no answer");
    }

    @Test
    void callThatRunsWithoutItsPermitIsShown() throws IOException {
        browser.size(1280, 1500, 1, false);
        browser.colours("light");
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        one.work(1);
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("1 / 12"));
        assertThat(browser.count("#lost:not([hidden])")).isZero();
        PermitsEndpoint endpoint = contexts.get(0).getBean(PermitsEndpoint.class);
        endpoint.change(
                "report-export",
                "report-export",
                null,
                endpoint.permits().instance().member(),
                null,
                null,
                null);

        await().atMost(PATIENCE).until(() -> browser.count("#lost:not([hidden])") == 1);
        assertThat(browser.text("#lost")).startsWith("1 call of this instance runs without a permit");
        assertThat(browser.text("#calls")).contains("runs without its permit");
        if (Boolean.getBoolean("permit.screenshots")) {
            picture("live-page-lost.png");
        }
        assertThat(browser.text("#n-use")).isEqualTo("0 / 12");
        one.end(1);
        await().atMost(PATIENCE).until(() -> browser.count("#lost:not([hidden])") == 0);
    }

    @Test
    void keyThatOnlyAnotherInstanceUsesIsLookedUp() {
        LocalPermitBackend store = new LocalPermitBackend();
        instance(store, WebApplicationType.SERVLET, "one", true);
        Workers two = instance(store, WebApplicationType.SERVLET, "two", true);
        two.hold("per-tenant", "tenant-7");
        open(0, "?name=per-tenant");
        await().atMost(PATIENCE).until(() -> browser.text("#seats-text").contains("look one up"));
        browser.evaluate("document.getElementById('look').value = 'tenant-7'");
        browser.evaluate("document.getElementById('look-form').requestSubmit()");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("1 / 2"));
        assertThat(browser.text("#members")).contains("two");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void connectsAgainAfterTheInstanceWasGone() {
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        one.work(1);
        open(0, "?name=report-export");
        contexts.get(0).close();

        await().atMost(PATIENCE).until(() -> browser.text("#live").contains("connect"));
    }
}
