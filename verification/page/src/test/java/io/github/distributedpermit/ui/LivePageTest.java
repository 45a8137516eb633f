package io.github.distributedpermit.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.page.Workers;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.endpoint.PermitsEndpoint;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;

/** What the page shows of one permit, and changes. */
class LivePageTest extends PageTest {

    private static final String EVIL = "<img src=x onerror=\"window.evil=1\">/\"'&lt;script>";
    private static final int TAB = 9;
    private static final int ENTER = 13;

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void showsTwoInstancesAndTwoHundredWaitingCalls(WebApplicationType type) {
        LocalPermitBackend store = new LocalPermitBackend();
        Workers one = instance(store, type, "orders@host-1:8080", true);
        Workers two = instance(store, type, "orders@host-2:8080", true);
        one.work(7);
        two.work(5);
        await().atMost(PATIENCE).until(() -> one.holding() == 7 && two.holding() == 5);
        one.work(9);
        two.work(200); // known to the answering instance from the store alone
        desktop("light");
        open(0, "?name=report-export");

        await().atMost(PATIENCE).until(() -> browser.text("#n-queue").equals("209"));
        assertThat(browser.text("#n-use")).isEqualTo("12 / 12");
        assertThat(browser.count(".box:not(.free)")).isEqualTo(12);
        assertThat(browser.count(".dot")).isEqualTo(209);
        assertThat(browser.text("#members")).contains("orders@host-1:8080").contains("orders@host-2:8080");
        assertThat(browser.evaluate(
                                "new Set(Array.from(document.querySelectorAll('.box,.dot'), e => e.className)).size")
                        .asInt())
                .as("colours of two instances, for permits and dots")
                .isEqualTo(4);
        assertThat(browser.text("#calls")).contains("com.example.page.Workers");
        assertThat(browser.errors()).isEmpty();
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
        for (int i = 0; i < 60 && !focused().equals("limit"); i++) {
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
        await().atMost(PATIENCE).until(() -> browser.text("#use-text").startsWith("Paused"));
        assertThat(browser.evaluate("window.asked").asString())
                .startsWith("Pause report-export of report-export for all instances?");
        assertThat(browser.text("#limit-text"))
                .contains("Set through one")
                .containsPattern("ends in (18|19|20) min: a deploy");
        await().atMost(PATIENCE).until(() -> browser.text("#events").contains("set through one: a deploy"));
        assertThat(browser.count(".box.over")).isEqualTo(20);
        browser.evaluate("document.getElementById('lift').click()");
        await().atMost(PATIENCE).until(() -> browser.text("#limit-text").contains("from the settings"));
    }

    @Test
    void limitOfAKeyThatIsNotInUseIsChanged() {
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        open(0, "?name=report-export");
        await().atMost(PATIENCE)
                .until(() -> browser.text("#limit-text").contains("A change is for the key report-export"));
        browser.evaluate("document.getElementById('limit').value = 3");
        browser.evaluate("document.getElementById('limit-form').requestSubmit()");
        await().atMost(PATIENCE).until(() -> browser.text("#done").contains("3 for all instances"));

        one.work(5);
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("3 / 3"));
        assertThat(browser.errors()).isEmpty();
    }

    /** A colleague's pause must not turn the number that an operator has written into a pause without an end. */
    @Test
    void limitThatIsBeingWrittenStaysWhenOthersChangeIt() {
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        one.work(1);
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> value("limit").equals("12"));
        browser.evaluate("document.getElementById('limit').value = 20; document.getElementById('reason').focus()");
        contexts.get(0)
                .getBean(PermitsEndpoint.class)
                .change("report-export", "report-export", 0, null, null, null, null, null);
        await().atMost(PATIENCE).until(() -> browser.text("#use-text").startsWith("Paused"));
        assertThat(value("limit")).isEqualTo("20");

        browser.evaluate("document.getElementById('limit-form').requestSubmit()");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("1 / 20"));
        contexts.get(0)
                .getBean(PermitsEndpoint.class)
                .change("report-export", "report-export", 15, null, null, null, null, null);
        await().atMost(PATIENCE).until(() -> value("limit").equals("15"));
    }

    @Test
    void whatTheOperatorDoesNotConfirmIsNotSent() {
        instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        open(0, "?name=per-tenant&key=tenant-1");
        await().atMost(PATIENCE).until(() -> browser.count("#limit-form :enabled") > 1);
        answerChanges("`{}`, {status: 200}");
        browser.evaluate("window.confirm = question => { window.asked = question; return false; }");
        assertThat(browser.evaluate("document.getElementById('limit').value = 5;"
                                + " document.getElementById('limit-form').requestSubmit(); window.asked")
                        .asString())
                .startsWith("No instance is known to use the key tenant-1");
        browser.evaluate(
                "window.confirm = question => { window.asked = question; return !question.startsWith('Pause'); }");
        assertThat(browser.evaluate("document.getElementById('limit').value = 0;"
                                + " document.getElementById('limit-form').requestSubmit(); window.asked")
                        .asString())
                .startsWith("Pause tenant-1 of per-tenant for all instances?");
        assertThat(browser.evaluate("window.sent").asInt()).isZero();
        assertThat(browser.errors()).isEmpty();
    }

    /** A login page or a proxy answers in place of the instance. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "`<html>login</html>`, {status: 200, headers: {[`Content-Type`]: `text/html`}} | It is unknown whether",
                "`{}`, {status: 200} | It is unknown whether",
                "`<html>`, {status: 504} | It is unknown whether",
                "`{\"error\": \"Internal Server Error\"}`, {status: 500} | It is unknown whether",
                "`<html>`, {status: 503} | It is unknown whether",
                "`{\"message\": \"It is refused\"}`, {status: 503} | Not changed: It is refused",
                "``, {status: 403} | Not changed: status 403",
            })
    void onlyAnAnswerOfTheInstanceShowsAChange(String answer, String said) {
        Workers one = instance(
                new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true, "spring.application.name=shop");
        one.work(1);
        open(0, "?name=report-export");
        await().atMost(PATIENCE)
                .until(() ->
                        browser.count("#lift") == 1 && browser.text("#n-use").equals("1 / 12"));
        answerChanges(answer);
        // each text: one that says that the outcome is unknown gives way to the state that is read next
        browser.evaluate(
                "window.said = []; for (const each of ['done', 'pause-done'].map(id => document.getElementById(id)))"
                        + " new MutationObserver(() => said.push(each.textContent)).observe(each, {childList: true})");
        for (String change : List.of(
                "limit-form').requestSubmit()", "pause').click()", "lift').click()", "pause-form').requestSubmit()")) {
            browser.evaluate(
                    "said.length = 0; document.getElementById('lift').disabled = false; document.getElementById('"
                            + change);
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(
                                    browser.evaluate("said.join(' then ')").asString())
                            .as(change)
                            // between them may come the state that was read after the change before
                            .startsWith("sending")
                            .contains(" then " + said));
        }
        assertThat(browser.errors()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "`<html>login</html>`, {status: 200} | This browser is not logged in",
                "``, {status: 401} | This browser is not logged in",
                "`{\"error\": \"Bad Gateway\"}`, {status: 502} | Instead of the permits comes the answer: Bad Gateway",
            })
    void whatAnswersInPlaceOfTheInstanceIsNotItsSilence(String answer, String said) {
        instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        open(0, "?name=report-export");
        browser.evaluate("window.fetch = () => Promise.resolve(new Response(" + answer + "))");
        await().atMost(PATIENCE).until(() -> browser.text("#stale").startsWith(said));
    }

    private static void answerChanges(String answer) {
        browser.evaluate("window.sent = 0; (() => { const send = window.fetch; window.fetch = (to, what) => what.method"
                + " ? (window.sent++, Promise.resolve(new Response(" + answer + "))) : send(to, what); })()");
    }

    private static String value(String id) {
        return browser.evaluate("document.getElementById('" + id + "').value").asString();
    }

    /** Until the first answer has come, the page knows no key of the permit that was chosen. */
    @Test
    void keyOfAnotherPermitIsNotChangedJustAfterTheChoice() {
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        open(0, "?name=report-export");
        await().atMost(PATIENCE)
                .until(() -> browser.text("#limit-text").contains("A change is for the key report-export"));
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
                          history.pushState(null, '', '?name=per-tenant');
                          dispatchEvent(new PopStateEvent('popstate'));
                          $('pause').click();
                          $('lift').click();
                          return Array.from(document.querySelectorAll('#limit-form :enabled, #members button'),
                              e => e.outerHTML).join();
                        })()""").asString();
        assertThat(sent()).isEmpty();
        assertThat(changeable).isEmpty();

        await().atMost(PATIENCE).until(() -> browser.count("#pause:enabled") == 1);
        browser.evaluate("document.getElementById('pause').click()");
        await().atMost(PATIENCE).until(() -> browser.text("#done").startsWith("Paused per-tenant:"));
        assertThat(sent()).isEqualTo("permits {\"name\":\"per-tenant\",\"key\":\"per-tenant\",\"limit\":0}");
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
        assertThat(browser.text("#path")).contains(EVIL);
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
        // longer than the silence, after which the permits are held as before
        Workers one = instance(store, WebApplicationType.SERVLET, "one", true, "distributed-permit.lease=60s");
        one.work(3);
        desktop("light");
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("3 / 12"));
        assertThat(browser.count("body.stale")).isZero();

        store.silent = true;
        // an answer that takes more than six seconds looks like the silence of the instance until it comes
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(browser.text("#stale"))
                    .startsWith("The store silent at store.example:4711 does not answer")
                    .containsPattern("What is shown is [0-9.]+ s old");
            assertThat(browser.text("#live")).isEqualTo("the store does not answer");
        });
        assertThat(browser.count("body.stale")).isEqualTo(1);
        assertThat(browser.text("#n-use")).isEqualTo("3 / 12");
        assertThat(browser.text("#limit-text")).startsWith("The last known limit is 12");
        assertThat(browser.text("#calls")).as("the instance itself knows").contains("holds");
        picture("live-page-store-down.png");
        browser.evaluate("document.getElementById('limit').value = 5");
        browser.evaluate("document.getElementById('limit-form').requestSubmit()");
        await().atMost(PATIENCE).until(() -> browser.text("#done").contains("unknown whether the change was made"));

        browser.open(page(0, "?name=report-export"));
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(browser.text("#stale"))
                        .startsWith("The store silent at store.example:4711 does not answer")
                        .contains("Nothing is known yet"));
        assertThat(browser.text("#n-use")).isEqualTo("–");
        assertThat(browser.text("#use-text")).startsWith("Unknown");
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
    void instanceThatDoesNotAnswerIsShownAsThat() throws IOException {
        desktop("light");
        Workers one = instance(new LocalPermitBackend(), WebApplicationType.SERVLET, "one", true);
        one.work(3);
        open(0, "?name=report-export");
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("3 / 12"));
        browser.evaluate("window.fetch = () => new Promise(() => {})");
        await().atMost(PATIENCE).until(() -> browser.count("body.stale") == 1);
        assertThat(browser.text("#stale")).startsWith("The instance one does not answer. What is shown is");
        assertThat(browser.text("#live")).isEqualTo("no answer");
        picture("live-page-hung.png");
    }

    @Test
    void callThatRunsWithoutItsPermitIsShown() throws IOException {
        desktop("light");
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
                null,
                null);

        await().atMost(PATIENCE).until(() -> browser.count("#lost:not([hidden])") == 1);
        assertThat(browser.text("#lost")).startsWith("1 call of this instance runs without a permit");
        assertThat(browser.text("#calls")).contains("runs without its permit");
        // the answer that shows the loss first may have read the store before it
        await().atMost(PATIENCE).until(() -> browser.text("#n-use").equals("0 / 12"));
        picture("live-page-lost.png");
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
        await().atMost(PATIENCE).until(() -> browser.text("#keys-text").contains("look one up"));
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
