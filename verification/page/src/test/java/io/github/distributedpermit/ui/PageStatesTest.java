package io.github.distributedpermit.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.page.Workers;
import io.github.distributedpermit.endpoint.PermitsEndpoint;
import io.github.distributedpermit.endpoint.PermitsView.Detail;
import io.github.distributedpermit.endpoint.PermitsView.Key;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;

/**
 * What endpoint and page say of one permit in each state, beside what the test itself counts: the calls that it made and that have a
 * permit, or have none. The table of the documents has exactly these lines; {@code -Dpermit.documents=true} writes it.
 */
class PageStatesTest extends PageTest {

    private static final Path TABLE = Path.of("..", "..", "docs", "page-states.md");
    private static final String HEAD =
            "| state | calls that run / wait, counted | endpoint | page |\n|---|---|---|---|\n";
    private static final String NAME = "report-export";

    private final List<String> lines = new ArrayList<>();

    @Test
    void sayWhatIsSoOrThatItIsUnknown() throws IOException {
        desktop("light");
        state("healthy", store -> {
            Workers one = one(store);
            one.work(3);
            return new Seen(() -> one.holding() == 3, "3 / 12", "");
        });
        state("full", store -> {
            Workers one = one(store);
            Workers two = one(store);
            one.work(7);
            two.work(5);
            await().until(() -> one.holding() + two.holding() == 12);
            two.work(30);
            return new Seen(() -> true, "12 / 12", "30 calls of 1 instance wait");
        });
        state("paused", store -> {
            Workers one = one(store);
            one.work(3);
            await().until(() -> one.holding() == 3);
            limit(0);
            one.work(2);
            return new Seen(() -> true, "3 / 0", "Paused");
        });
        state("all calls paused", store -> {
            Workers one = one(store);
            one.work(3);
            await().until(() -> one.holding() == 3);
            endpoint().drain(null, null, true, NAME, "the partner is down", null);
            one.work(2);
            return new Seen(() -> one.waiting() == 2, "3 / 0", "All calls of permit 'report-export' are paused");
        });
        state("all calls paused over a limit of an operator", store -> {
            Workers one = one(store);
            one.work(3);
            await().until(() -> one.holding() == 3);
            limit(5);
            open(0, "?name=" + NAME);
            await().until(() -> browser.text("#n-use").equals("3 / 5"));
            endpoint().drain(null, null, true, NAME, "the partner is down", null);
            return new Seen(
                    () -> browser.text("#n-use").equals("3 / 0")
                            && browser.count("#lift:not([disabled])") == 1
                            && !browser.text("body").contains("was lifted, or lost"),
                    "3 / 0",
                    "All calls of permit 'report-export' are paused");
        });
        state("all calls paused, store down", store -> {
            Workers one = one(store);
            one.work(3);
            await().until(() -> one.holding() == 3);
            endpoint().drain(null, null, true, NAME, "the partner is down", null);
            open(0, "?name=" + NAME);
            await().until(() -> browser.text("#n-use").equals("3 / 0"));
            store.silent = true;
            return new Seen(
                    () -> browser.count("body.stale") == 1
                            && browser.text("#pauses").startsWith("All calls of permit"),
                    "3 / 0",
                    "All calls of permit 'report-export' are paused");
        });
        state("overridden", store -> {
            Workers one = one(store);
            one.work(1);
            await().until(() -> one.holding() == 1);
            limit(5);
            one.work(6);
            return new Seen(() -> one.holding() == 5, "5 / 5", "from an operator");
        });
        state("store down", store -> {
            Workers one = one(store);
            one.work(3);
            open(0, "?name=" + NAME);
            await().until(() -> browser.text("#n-use").equals("3 / 12"));
            store.silent = true;
            return new Seen(() -> browser.count("body.stale") == 1, "3 / 12", "does not answer");
        });
        state("slow store", store -> {
            Workers one = one(store);
            store.lateMillis = 700;
            one.work(14);
            return new Seen(() -> one.holding() == 12, "12 / 12", "slow store");
        });
        state("instance hung", store -> {
            Workers one = one(store);
            one.work(3);
            open(0, "?name=" + NAME);
            await().until(() -> browser.text("#n-use").equals("3 / 12"));
            browser.evaluate("window.fetch = () => new Promise(() => {})");
            return new Seen(() -> browser.count("body.stale") == 1, "3 / 12", "does not answer");
        });
        state("started without store", store -> {
            store.silent = true;
            Workers one = one(store);
            one.work(2);
            return new Seen(() -> browser.count("body.stale") == 1, "–", "Nothing is known yet");
        });
        state("store restarted empty", store -> {
            Workers one = one(store);
            one.work(3);
            await().until(() -> one.holding() == 3);
            limit(5);
            open(0, "?name=" + NAME);
            await().until(() -> browser.text("#n-use").equals("3 / 5"));
            store.loseAll();
            return new Seen(
                    () -> browser.text("#n-use").equals("3 / 12"),
                    "3 / 12",
                    "was lifted, or lost with the data of the store");
        });
        state("instances state different limits", store -> {
            Workers one = one(store);
            Workers two = instance(
                    store, WebApplicationType.SERVLET, "two", true, "distributed-permit.permits.report-export.limit=8");
            one.work(4);
            await().until(() -> one.holding() == 4);
            two.work(6);
            return new Seen(
                    () -> two.holding() == 4,
                    "8 / 12",
                    "Instances state different limits: 8 by 1 instance, 12 by 1 instance");
        });
        state("permits taken", store -> {
            Workers one = one(store);
            one.work(3);
            await().until(() -> one.holding() == 3);
            PermitsEndpoint endpoint = endpoint();
            long call = Objects.requireNonNull(key().calls().get(0).call());
            endpoint.change(NAME, NAME, null, null, call, null, null, null);
            return new Seen(() -> true, "2 / 12", "1 call of this instance runs without a permit");
        });
        state("list cut", store -> {
            Workers one = one(store);
            one.work(612);
            return new Seen(() -> one.holding() == 12, "12 / 12", "Only the first 100 calls are shown");
        });
        String table = HEAD + String.join("", lines);
        if (Boolean.getBoolean("permit.documents")) {
            String text = Files.readString(TABLE);
            int from = text.indexOf(HEAD);
            Files.writeString(TABLE, (from < 0 ? text : text.substring(0, from)) + table);
        }
        assertThat(Files.readString(TABLE)).endsWith(table);
        assertThat(browser.errors()).isEmpty();
    }

    /** What the page has to show when the condition holds. */
    private record Seen(Callable<Boolean> when, String use, String text) {}

    private interface Scene {
        Seen begin(SilentBackend store);
    }

    private void state(String name, Scene scene) {
        browser.open("about:blank");
        SilentBackend store = new SilentBackend();
        Seen seen = scene.begin(store);
        if (!browser.evaluate("location.href").asString().startsWith("http")) {
            browser.open(page(0, "?name=" + NAME));
        }
        await(name).atMost(PATIENCE).until(seen.when());
        await(name).atMost(PATIENCE).until(() -> browser.text("#n-use").equals(seen.use()));
        await(name)
                .atMost(PATIENCE)
                .until(() ->
                        browser.evaluate("document.body.innerText").asString().contains(seen.text()));
        lines.add(line(name, seen, store.silent));
        contexts.forEach(each -> {
            store.silent = false;
            each.close();
        });
        contexts.clear();
    }

    private String line(String name, Seen seen, boolean silent) {
        List<Workers> workers =
                contexts.stream().map(each -> each.getBean(Workers.class)).toList();
        int run = workers.stream().mapToInt(Workers::holding).sum();
        int wait = workers.stream().mapToInt(Workers::waiting).sum();
        // The answer may be late, or that to the previous claim; the number of calls without permits may be a second
        // old.
        Detail detail = await(name).until(this::detail, each -> agrees(each, silent, run, wait));
        Key key = detail.keys().get(0);
        String endpoint = "unknown";
        if (name.equals("instance hung")) {
            endpoint = "does not answer";
        } else if (key.problem() == null) {
            endpoint = "`inUse` %d, `waiting` %d, `limit` %d%s%s"
                    .formatted(
                            key.inUse(),
                            key.waiting(),
                            key.limit(),
                            detail.runningLost() > 0 ? ", `runningLost` " + detail.runningLost() : "",
                            key.callsTruncated() ? ", `callsTruncated`" : "");
        } else {
            assertThat(key.inUse()).as(name).isNull();
            assertThat(key.waiting()).as(name).isNull();
        }
        boolean stale = key.problem() != null || name.equals("instance hung");
        await(name).atMost(PATIENCE).until(() -> browser.count("body.stale") == (stale ? 1 : 0));
        if (!stale) {
            await(name).atMost(PATIENCE).until(() -> browser.text("#n-queue").equals(String.valueOf(wait)));
            assertThat(browser.text("#n-use")).as(name).isEqualTo(key.inUse() + " / " + key.limit());
        }
        String use = seen.use().equals("–") ? "no number" : seen.use() + " in use";
        String said = seen.text().isEmpty() ? "" : ", \"" + seen.text() + "\"";
        return "| %s | %d / %d | %s | %s%s%s |\n"
                .formatted(name, run, wait, endpoint, use, stale ? ", greyed, with its age" : "", said);
    }

    private static boolean agrees(Detail detail, boolean silent, int run, int wait) {
        Key key = detail.keys().get(0);
        return silent
                ? key.problem() != null
                : Integer.valueOf(run - detail.runningLost()).equals(key.inUse())
                        && Integer.valueOf(wait).equals(key.waiting());
    }

    private Workers one(SilentBackend store) {
        return instance(store, WebApplicationType.SERVLET, contexts.isEmpty() ? "one" : "two", true);
    }

    private PermitsEndpoint endpoint() {
        return contexts.get(0).getBean(PermitsEndpoint.class);
    }

    private Detail detail() {
        return Objects.requireNonNull(endpoint().permit(NAME, null, null, null));
    }

    private Key key() {
        return detail().keys().get(0);
    }

    private void limit(int limit) {
        endpoint().change(NAME, NAME, limit, null, null, null, null, null);
    }
}
