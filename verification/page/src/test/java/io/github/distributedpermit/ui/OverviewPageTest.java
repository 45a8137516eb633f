package io.github.distributedpermit.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.page.Workers;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.endpoint.PermitsEndpoint;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import tools.jackson.databind.JsonNode;

/** From all permits to one call: what is selected, whether the page stays where it is, and whether everybody can read it. */
class OverviewPageTest extends PageTest {

    private static final int TAB = 9;
    private static final int ENTER = 13;
    private static final int PERMITS = 1_000;

    /** The limits of these permits as properties, beside the two of all tests. */
    private static String[] limits() {
        return IntStream.range(0, PERMITS - 2)
                .mapToObj(i -> "distributed-permit.permits.job-%04d.limit=%d".formatted(i, 1 + i % 40))
                .toArray(String[]::new);
    }

    @Test
    void thousandPermitsAreListedFullestFirstAndFoundByName() throws IOException {
        LocalPermitBackend store = new LocalPermitBackend();
        Workers one = instance(store, WebApplicationType.SERVLET, "orders@host-1:8080", true, limits());
        Workers two = instance(store, WebApplicationType.SERVLET, "orders@host-2:8080", true, limits());
        one.work(7);
        two.work(5);
        await().atMost(PATIENCE).until(() -> one.holding() + two.holding() == 12);
        two.work(30);
        IntStream.range(0, 60).forEach(i -> {
            String job = "job-%04d".formatted(i * 13);
            IntStream.range(0, i % 5 + 1).forEach(each -> one.hold(job, job));
        });
        PermitsEndpoint endpoint = contexts.get(0).getBean(PermitsEndpoint.class);
        endpoint.change("job-0013", "job-0013", 0, null, null, "the partner is down", "2h", true);
        endpoint.change("job-0026", "job-0026", 9, null, null, null, null, true);
        desktop("light");
        countShifts();
        open(0, "");

        // an answer that misses some keys shows other rows
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(browser.text("#list tr:first-child"))
                    .startsWith("report-export12 / 1230")
                    .contains("full");
            assertThat(browser.text("#range")).isEqualTo("1–50 of 1000");
            assertThat(browser.count("#list tr")).isEqualTo(50);
            assertThat(browser.evaluate("document.querySelector('#list a').getClientRects().length")
                            .asInt())
                    .as("lines of the name beside all columns")
                    .isEqualTo(1);
            assertThat(row("job-0013")).contains("paused");
            assertThat(row("job-0026")).contains("limit set");
        });
        assertThat(findings()).isEmpty();
        picture("live-page-overview.png");
        assertThat(shifts()).isLessThan(0.1);

        browser.evaluate("document.getElementById('next').click()");
        await().atMost(PATIENCE).until(() -> browser.text("#range").equals("51–100 of 1000"));
        assertThat(address()).contains("from=50");
        browser.evaluate("document.getElementById('filter').focus()");
        browser.type("TENANT");
        await().atMost(PATIENCE).until(() -> browser.text("#range").equals("1–1 of 1"));
        assertThat(browser.text("#list")).contains("per-tenant");
        assertThat(address()).contains("filter=TENANT");
        browser.evaluate("document.getElementById('filter').value = 'no such name'");
        browser.evaluate("document.getElementById('filter').dispatchEvent(new Event('input'))");
        await().atMost(PATIENCE).until(() -> browser.text("#list").equals("No permit has such a name."));
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void allCallsOfAPermitAndOfTheApplicationArePausedWithTheirNamesAndGoOn() throws IOException {
        LocalPermitBackend store = new LocalPermitBackend();
        Workers one = instance(store, WebApplicationType.SERVLET, "one", true, "spring.application.name=shop");
        Workers two = instance(store, WebApplicationType.SERVLET, "two", true, "spring.application.name=shop");
        one.work(2);
        await().atMost(PATIENCE).until(() -> one.holding() == 2);
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("2 / 12"));
        assertThat(browser.text("#pauses")).isEqualTo("No pause is known to this instance.");
        browser.evaluate("document.getElementById('pause-reason').value = 'the partner is down'");
        browser.evaluate("document.getElementById('pause-lasts').value = '2h'");
        browser.evaluate("document.getElementById('pause-all').click()");
        await().atMost(PATIENCE)
                .until(() -> browser.text("#pause-done").startsWith("All calls of permit 'report-export' are paused."));
        assertThat(browser.evaluate("window.asked").asString())
                .contains(
                        "permit 'report-export' in all instances",
                        "also those that nothing uses yet",
                        "Running calls go on");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("2 / 0"));
        assertThat(browser.text("#paused-text"))
                .contains("through one", "the partner is down")
                .containsPattern("ends in 1(18|19|20) min");
        one.work(3);
        await().atMost(PATIENCE).until(() -> browser.text("#queue-text").startsWith("3 calls of this instance wait"));
        assertThat(findings()).isEmpty();

        open(1, "");
        await().atMost(PATIENCE).until(() -> row("report-export").contains("paused"));
        assertThat(browser.text("#pauses")).contains("permit 'report-export'", "the partner is down");
        assertThat(browser.text("#pause-title")).isEqualTo("Pause of application 'shop'");
        browser.evaluate("document.getElementById('pause-all').click()");
        await().atMost(PATIENCE).until(() -> row("per-tenant").contains("paused"));
        assertThat(browser.evaluate("window.asked").asString())
                .contains("application 'shop' in all instances", "but for those without a limit");
        assertThat(browser.text("#pauses")).contains("application 'shop'");
        browser.evaluate("document.getElementById('resume-all').click()");
        await().atMost(PATIENCE).until(() -> !row("per-tenant").contains("paused"));
        two.work(1);

        open(0, "?name=report-export");
        await().atMost(PATIENCE)
                .until(() -> browser.evaluate("!document.getElementById('resume-all').disabled")
                        .asBoolean());
        browser.evaluate("document.getElementById('resume-all').click()");
        await().atMost(PATIENCE).until(() -> one.holding() + two.holding() == 6);
        await().atMost(PATIENCE).until(() -> browser.text("#pauses").equals("No pause is known to this instance."));
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void keyThatOnlyAnotherInstanceUsesIsFoundInTheStore() throws IOException {
        LocalPermitBackend store = new LocalPermitBackend();
        instance(store, WebApplicationType.SERVLET, "one", true);
        Workers two = instance(store, WebApplicationType.SERVLET, "two", true);
        two.hold("per-tenant", "far away");
        open(0, "?name=per-tenant");
        browser.evaluate("document.getElementById('others').click()");
        await().atMost(PATIENCE).until(() -> browser.text("#others-list").equals("far away"));
        assertThat(browser.text("#others-text")).contains("of whatever permit");
        assertThat(findings()).isEmpty();
        browser.evaluate("document.querySelector('#others-list a').click()");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("1 / 2"));
        assertThat(address()).contains("key=far+away");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void selectionGoesFromAllPermitsToOneInstanceByKeyboardAndTheAddressFollows() throws IOException {
        LocalPermitBackend store = new LocalPermitBackend();
        Workers one = instance(
                store,
                WebApplicationType.SERVLET,
                "orders@host-1:8080",
                true,
                "management.endpoint.permitsui.instance-link=https://{host}:8443/actuator/permitsui");
        Workers[] all = Stream.concat(
                        Stream.of(one),
                        IntStream.rangeClosed(2, 5)
                                .mapToObj(i -> instance(
                                        store, WebApplicationType.SERVLET, "orders@host-" + i + ":8080", true)))
                .toArray(Workers[]::new);
        for (int i = 0; i < 5; i++) {
            all[i].work(i < 2 ? 3 : 2);
        }
        await().atMost(PATIENCE)
                .until(() -> Stream.of(all).mapToInt(Workers::holding).sum() == 12);
        for (Workers each : all) {
            each.work(40);
        }
        desktop("light");
        browser.size(1280, 1500, 1, false);
        countShifts();
        open(0, "");
        tabTo("report-export");
        browser.press("Enter", ENTER);
        await().atMost(PATIENCE).until(() -> browser.text("#n-queue").equals("200"));
        assertThat(address()).isEqualTo("?name=report-export");
        assertThat(browser.text("#n-use")).isEqualTo("12 / 12");
        assertThat(browser.text("#n-members")).isEqualTo("5");
        assertThat(browser.evaluate(
                                "new Set(Array.from(document.querySelectorAll('.badge'), e => e.className + e.textContent)).size")
                        .asInt())
                .as("letters and colours of five instances")
                .isEqualTo(5);
        await().atMost(PATIENCE)
                .until(() -> browser.evaluate("document.getElementById('h-waiting').getAttribute('aria-label')")
                        .asString()
                        .startsWith("Now 40, at most 40"));
        await().atMost(PATIENCE)
                .until(() ->
                        browser.text("#others-hold").startsWith("How long calls of other instances have held theirs"));
        assertThat(browser.text("#others-hold"))
                .contains("alone: page of orders@host-2:8080, page of orders@host-3:8080");
        assertThat(browser.evaluate("document.querySelector('#others-hold a').href")
                        .asString())
                .isEqualTo("https://host-2:8443/actuator/permitsui");
        assertThat(findings()).isEmpty();
        picture("live-page.png");
        browser.colours("dark");
        assertThat(browser.evaluate("getComputedStyle(document.body).backgroundColor")
                        .asString())
                .isEqualTo("rgb(18, 22, 28)");
        assertThat(findings()).isEmpty();
        picture("live-page-dark.png");
        browser.colours("light");
        String mark = badge("orders@host-3:8080");

        tabTo("orders@host-3:8080");
        browser.press("Enter", ENTER);
        await().atMost(PATIENCE).until(() -> browser.count("#members tr") == 1);
        assertThat(address()).contains("name=report-export", "instance=");
        assertThat(badge("orders@host-3:8080")).isEqualTo(mark);
        assertThat(browser.text("#member-text")).contains("known to that instance alone");
        assertThat(browser.evaluate("document.querySelector('#member-text a').href")
                        .asString())
                .isEqualTo("https://host-3:8443/actuator/permitsui");
        assertThat(browser.count("#calls-section:not([hidden])")).isZero();
        assertThat(findings()).isEmpty();

        browser.evaluate("history.back()");
        await().atMost(PATIENCE).until(() -> browser.count("#members tr") == 5);
        open(1, "?name=report-export"); // the page of another instance
        await().atMost(PATIENCE).until(() -> browser.count("#members tr") == 5);
        assertThat(badge("orders@host-3:8080")).isEqualTo(mark);
        assertThat(browser.text("#calls")).contains("com.example.page.Workers");
        assertThat(shifts()).isLessThan(0.1);

        browser.size(390, 1400, 1, true);
        assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
                .as("nothing is wider than a phone")
                .isLessThanOrEqualTo(390);
        assertThat(browser.evaluate(
                                "Array.from(document.querySelectorAll('td')).filter(e => e.getBoundingClientRect().right > 390).length")
                        .asInt())
                .as("cells that are cut")
                .isZero();
        assertThat(findings()).isEmpty();
        picture("live-page-phone.png");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void pausedIsLargeAndOneCallLosesItsPermits() throws IOException {
        Workers one = instance(
                new LocalPermitBackend(),
                WebApplicationType.SERVLET,
                "one",
                true,
                "management.endpoint.permitsui.trace-link=https://traces.example/{traceId}");
        one.work(14);
        desktop("light");
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("12 / 12"));
        assertThat(browser.text("#calls tr:first-child")).contains("asynchronous: went on");
        assertThat(browser.count("#calls button[data-id^=s]"))
                .as("stacks of asynchronous calls")
                .isZero();

        browser.evaluate("document.querySelector('#calls button[data-id^=t]').click()");
        await().atMost(PATIENCE).until(() -> browser.text("#done").equals("1 permit of report-export was taken."));
        assertThat(browser.evaluate("window.asked").asString())
                .startsWith("Take the permits of report-export from com.example.page.Workers");
        await().atMost(PATIENCE).until(() -> browser.count("#lost:not([hidden])") == 1);
        await().atMost(PATIENCE).until(() -> one.holding() == 13);
        // the answer that shows the loss may have read the store before the permit went to the next call
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(browser.text("#n-use")).isEqualTo("12 / 12");
            assertThat(browser.text("#n-queue")).isEqualTo("1");
        });

        browser.evaluate("document.getElementById('reason').value = 'the partner is down'");
        browser.evaluate("document.getElementById('pause').click()");
        await().atMost(PATIENCE).until(() -> browser.count("#paused:not([hidden])") == 1);
        assertThat(browser.text("#paused")).contains("No call gets a permit of report-export", "the partner is down");
        assertThat(browser.text("#pauses")).startsWith("Paused by a limit of the key report-export, not by a pause");
        assertThat(browser.count("#resume-all[hidden]"))
                .as("it would not lift that limit")
                .isEqualTo(1);
        assertThat(browser.evaluate("parseFloat(getComputedStyle(document.querySelector('#paused b')).fontSize)")
                        .asInt())
                .isGreaterThan(40);
        assertThat(findings()).isEmpty();
        browser.evaluate("scrollTo(0, 0)");
        picture("live-page-paused.png");
        browser.evaluate("document.getElementById('reason').value = ''");
        browser.evaluate("document.getElementById('lasts').value = '2h'");
        browser.evaluate("document.getElementById('end').click()");
        await().atMost(PATIENCE)
                .until(() -> browser.text("#done").startsWith("The limit 0 of report-export has an end now"));
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(browser.text("#paused"))
                        .containsPattern("ends in 1(18|19|20) min: the partner is down"));

        browser.evaluate("document.querySelector('#members a').click()");
        await().atMost(PATIENCE).until(() -> browser.count("#drain:not([hidden])") == 1);
        browser.evaluate("document.getElementById('drain').click()");
        await().atMost(PATIENCE).until(() -> browser.text("#done").equals("This instance takes no more permits."));
        assertThat(browser.evaluate("window.asked").asString()).startsWith("Drain one? It takes no more permits");
        await("the calls that waited are rejected").until(() -> one.waiting() == 0);
        await().atMost(PATIENCE).until(() -> browser.text("#problem").startsWith("This instance was drained"));
        open(0, "");
        await().atMost(PATIENCE).until(() -> row("report-export").matches(".*1 \\d+(\\.\\d)? s ago0.*"));
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void permitWithoutALimitIsShownWithTheCallsOfThisInstance() {
        Workers one = instance(
                new LocalPermitBackend(),
                WebApplicationType.SERVLET,
                "one",
                true,
                "distributed-permit.permits.free.limit=unlimited");
        one.hold("free", "free");
        one.hold("free", "another");
        open(0, "");
        await().atMost(PATIENCE).until(() -> row("free").startsWith("freeno limit, 2 in use here"));
        open(0, "?name=free");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("2 here"));
        assertThat(browser.text("#use-text")).startsWith("This permit has no limit");
        assertThat(browser.text("#calls")).startsWith("This permit has no limit");
        assertThat(browser.count("#pause:disabled")).isEqualTo(1);
        assertThat(browser.evaluate("document.body.innerText").asString()).doesNotContain("2147483647", "undefined");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void stackOfACallIsThatOfItsThreadAndTheListHasTheLongestHold() {
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        one.workOnThread("report-export");
        desktop("light");
        open(0, "");
        await().atMost(PATIENCE).until(() -> row("report-export").matches("report-export1 / 120–\\d+(\\.\\d)? s00"));
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.count("#calls button[data-id^=s]") == 1);
        browser.evaluate("document.querySelector('#calls button[data-id^=s]').click()");
        await().atMost(PATIENCE).until(() -> browser.count("#stack-view:not([hidden])") == 1);
        assertThat(browser.text("#stack-title")).startsWith("Stack of com.example.page.Workers.lambda$workOnThread$");
        assertThat(browser.text("#stack")).contains("CountDownLatch.await", "com.example.page.Workers.awaitEnd");
        assertThat(browser.errors()).isEmpty();
    }

    /** What tells a permit whose calls hang from one that is busy. */
    @Test
    void callsOfWhichNoneHasEndedForLongAreNamedWhileOthersWait() {
        LocalPermitBackend store = new LocalPermitBackend();
        Workers one = instance(store, WebApplicationType.SERVLET, "one", true);
        Workers two = instance(store, WebApplicationType.SERVLET, "two", true);
        one.work(1);
        await().atMost(PATIENCE).until(() -> one.holding() == 1);
        one.end(1);
        await().atMost(PATIENCE).until(() -> one.holding() == 0);
        one.work(11);
        await().atMost(PATIENCE).until(() -> one.holding() == 11);
        two.work(1);
        await().atMost(PATIENCE).until(() -> two.holding() == 1);
        one.work(300);
        desktop("light");
        open(0, "");
        // the holds have to last for ten times that of the call that has ended, which may have taken seconds
        await().atMost(PATIENCE.multipliedBy(4))
                .until(() -> row("report-export")
                        .matches(".* (s|min) usually \\d+\\.\\d s.*fullall here hold for ≥ \\d+(\\.\\d)? (s|min)"));
        open(0, "?name=report-export");
        await().atMost(PATIENCE)
                .until(() -> browser.text("#hold-text")
                        .matches("None of the 11 calls of this instance that hold permits has ended for \\S+ (s|min)\\."
                                + " Calls that have ended held theirs for \\S+ s on average\\."));
        assertThat(browser.text("#others-hold"))
                .isEqualTo("How long calls of other instances have held theirs is known to them alone: ask two.");
        await().atMost(PATIENCE).until(() -> {
            one.end(1);
            return browser.text("#hold-text").isEmpty();
        });
        assertThat(browser.errors()).isEmpty();
    }

    /** What the store has stays as it was, greyed. */
    @Test
    void callsThatFailWhileTheStoreIsAwayAreCounted() {
        SilentBackend store = new SilentBackend();
        Workers one = instance(
                store,
                WebApplicationType.SERVLET,
                "one",
                true,
                "distributed-permit.defaults.store-timeout=500ms",
                "distributed-permit.lease=60s"); // which the silence must not outlast
        one.work(1);
        desktop("light");
        open(0, "");
        await().atMost(PATIENCE).until(() -> row("report-export").matches("report-export1 / 120–\\d+(\\.\\d)? s00"));
        store.silent = true;
        one.work(12);
        await().atMost(PATIENCE)
                .until(() -> browser.count("body.stale") == 1
                        && row("report-export").matches("report-export1 / 120–\\d+(\\.\\d)? s012 \\d+(\\.\\d)? s ago"));
        store.silent = false;
        assertThat(browser.errors()).isEmpty();
    }

    /** A process that is stopped renews nothing. */
    @Test
    void instanceThatSendsNoClaimsIsNamedAmongAllPermits() {
        LocalPermitBackend store = new LocalPermitBackend();
        Workers one = instance(store, WebApplicationType.SERVLET, "one", true);
        one.work(1);
        desktop("light");
        open(0, "");
        await().atMost(PATIENCE).until(() -> row("report-export").startsWith("report-export1 / 12"));
        PermitStore frozen = freeze(store); // once the page is ready, which has to see most of its lease
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(browser.text("#problem"))
                        .startsWith("orders@host-9:8080 has sent no claim for report-export for at least ")
                        .doesNotContain("one has"));
        assertThat(row("report-export")).as("before its lease ends").startsWith("report-export3 / 12");
        await().atMost(PATIENCE).until(() -> browser.count("#problem[hidden]") == 1);
        assertThat(browser.errors()).isEmpty();
        frozen.close();
    }

    private static PermitStore freeze(LocalPermitBackend store) {
        PermitStore frozen = store.join(new Member("f", "orders@host-9:8080"), NOTHING);
        frozen.claim(Claim.of("report-export", 1, Duration.ofSeconds(24))
                        .limit(12)
                        .wanted(2))
                .toCompletableFuture()
                .join();
        return frozen;
    }

    @Test
    void instanceThatSendsNoClaimsIsNamedBeforeItsLeaseEndsAndKeepsItsName() {
        LocalPermitBackend store = new LocalPermitBackend();
        Workers one = instance(store, WebApplicationType.SERVLET, "one", true);
        one.work(1);
        desktop("light");
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("1 / 12"));
        PermitStore frozen = freeze(store); // once the page is ready, which has to see most of its lease
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(browser.text("#problem"))
                        .startsWith("orders@host-9:8080 has sent no claim for at least ")
                        .doesNotContain("one has"));
        assertThat(browser.text("#n-use")).isEqualTo("3 / 12");
        browser.evaluate(
                "Array.from(document.querySelectorAll('#members a')).find(e => e.textContent.includes('host-9')).click()");
        await().atMost(PATIENCE).until(() -> browser.text("#members").startsWith("This instance neither holds"));
        assertThat(browser.text("#path")).contains("orders@host-9:8080");
        assertThat(browser.errors()).isEmpty();
        frozen.close();
    }

    private static final HoldingListener NOTHING = new HoldingListener() {
        @Override
        public void granted(String key, Holding holding) {}

        @Override
        public void changed(String key) {}

        @Override
        public void alive(long sentAtNanos) {}

        @Override
        public void lost() {}
    };

    /** Such as those that a user has made; a path refuses some of them. */
    @Test
    void permitsAndKeysOfAnyNameAreShownAndChanged() {
        String odd = "reports/export?a=1&b#c;d 100%2F <b>größe 🙂";
        String endless = "n".repeat(1_000);
        Workers one = instance(
                new LocalPermitBackend(),
                WebApplicationType.SERVLET,
                "one",
                true,
                "distributed-permit.permits[*].limit=3");
        one.workOnThread(odd);
        one.workOnThread(endless);
        desktop("light");
        for (String name : new String[] {odd, endless}) {
            open(0, "?all");
            await().atMost(PATIENCE).until(() -> browser.text("#list").contains(odd));
            assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
                    .isLessThanOrEqualTo(1280);
            browser.evaluate("Array.from(document.querySelectorAll('#list a')).find(e => e.textContent === '" + name
                    + "').click()");
            await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("1 / 3"));
            assertThat(browser.evaluate("new URLSearchParams(location.search).get('name')")
                            .asString())
                    .isEqualTo(name);
            assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
                    .isLessThanOrEqualTo(1280);
            browser.evaluate("document.querySelector('#calls button[data-id^=s]').click()");
            await().atMost(PATIENCE)
                    .until(() -> browser.text("#stack-title").startsWith("Stack of com.example.page.Workers"));
            browser.evaluate("document.getElementById('limit').value = '5'");
            browser.evaluate("document.getElementById('limit-form').requestSubmit()");
            await().atMost(PATIENCE)
                    .until(() -> browser.text("#done").equals("The limit of " + name + " is 5 for all instances."));
            open(0, browser.evaluate("location.search").asString());
            await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("1 / 5"));
            browser.evaluate("document.getElementById('lift').click()");
            await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("1 / 3"));
        }
        assertThat(browser.errors()).isEmpty();
    }

    private static String row(String name) {
        return browser.evaluate(
                        "(Array.from(document.querySelectorAll('#list tr')).find(e => e.textContent.startsWith('%s')) || {}).textContent"
                                .formatted(name))
                .asString();
    }

    private static String badge(String instance) {
        return browser.evaluate(
                        "(e => e.className + e.textContent)(Array.from(document.querySelectorAll('.who')).find(e => e.textContent.includes('%s')).querySelector('.badge'))"
                                .formatted(instance))
                .asString();
    }

    private static String address() {
        return browser.evaluate("location.search").asString();
    }

    private static void tabTo(String label) {
        browser.evaluate("document.activeElement.blur()");
        for (int i = 0; i < 40; i++) {
            browser.press("Tab", TAB);
            if (browser.evaluate("document.activeElement.textContent")
                    .asString()
                    .equals(label)) {
                return;
            }
        }
        throw new AssertionError("The keyboard does not reach " + label);
    }

    /** From the next page that is opened on. The text about a late answer is hidden, since it would move what is below it. */
    private static void countShifts() {
        browser.beforePages("""
                window.shifts = 0;
                document.addEventListener('DOMContentLoaded',
                    () => document.getElementById('stale')?.style.setProperty('display', 'none'));
                new PerformanceObserver(list => list.getEntries().forEach(e => { if (!e.hadRecentInput) window.shifts += e.value; }))
                    .observe({ type: 'layout-shift', buffered: true });""");
    }

    private static double shifts() {
        return browser.evaluate("window.shifts").asDouble();
    }

    /** What axe finds, each with the first element. What is greyed after a delayed answer has too little contrast. */
    private static String findings() throws IOException {
        await().atMost(PATIENCE).until(() -> browser.count("body.stale") == 0);
        if (browser.evaluate("typeof axe").asString().equals("undefined")) {
            try (InputStream axe = OverviewPageTest.class.getResourceAsStream(
                    "/META-INF/resources/webjars/axe-core/4.6.3/axe.min.js")) {
                browser.evaluate(new String(Objects.requireNonNull(axe).readAllBytes(), StandardCharsets.UTF_8) + ";1");
            }
        }
        JsonNode found = browser.awaited(
                "axe.run().then(r => r.violations.map(v => v.id + ': ' + v.help + ' ' + v.nodes[0].html).join('\\n'))");
        return found.asString();
    }
}
