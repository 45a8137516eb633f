package io.github.distributedpermit.core.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.key.PauseState;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What an instance reads to know the pauses of its names, when, and what it makes of it. */
class PausesTest {

    private static final long INTERVAL = Duration.ofSeconds(5).toNanos();
    private static final long TIMEOUT = Duration.ofSeconds(2).toNanos();
    private static final String APPLICATION = Pause.ofApplication("shop");
    private static final String ORDERS = Pause.ofName("orders");

    private final Map<String, OverrideLimit> store = new HashMap<>();
    private final List<String> read = new ArrayList<>();
    private final List<CompletableFuture<KeyState>> open = new ArrayList<>();
    private final List<Task> tasks = new ArrayList<>();
    private Set<String> inUse = Set.of();
    private boolean answers = true;
    private boolean fails;
    private final Set<String> failing = new HashSet<>();
    private boolean rejects;
    private int news;
    private long now;

    private final Pauses pauses = new Pauses(
            this::schedule,
            () -> now,
            Duration.ofSeconds(20).toNanos(),
            TIMEOUT,
            this::inspect,
            () -> inUse,
            () -> news++);

    private record Task(Runnable work, long delay) {}

    PausesTest() {
        pauses.obey("shop");
    }

    private Scheduler.Timer schedule(Runnable work, long delay) {
        if (rejects) {
            throw new RejectedExecutionException("no thread");
        }
        Task task = new Task(work, delay);
        tasks.add(task);
        return () -> tasks.remove(task);
    }

    private CompletionStage<KeyState> inspect(String key) {
        read.add(key);
        if (fails || failing.contains(key)) {
            return CompletableFuture.failedFuture(new IllegalStateException("away"));
        }
        CompletableFuture<KeyState> answer = new CompletableFuture<>();
        if (answers) {
            answer.complete(state(key));
        } else {
            open.add(answer);
        }
        return answer;
    }

    private KeyState state(String key) {
        return new KeyState(key, 0, store.getOrDefault(key, OverrideLimit.empty()), List.of());
    }

    private void pause(String key) {
        store.put(key, OverrideLimit.of(0));
        changed();
    }

    private void changed() {
        store.put(Pause.CHANGES, OverrideLimit.of(1, "operator", "change " + store.size() + now));
    }

    /** Lets the time of the next look come. */
    private void look() {
        now += INTERVAL;
        Task next = tasks.stream()
                .filter(task -> task.delay() == INTERVAL)
                .findFirst()
                .orElseThrow();
        tasks.remove(next);
        next.work().run();
    }

    private PauseState of(String name) {
        return pauses.of(name, name);
    }

    private void find(String name) {
        pauses.find(name, name);
    }

    @Test
    void withoutPausesOneKeyIsReadAtAnIntervalWhateverNamesThereAre() {
        assertThat(of("orders")).isEqualTo(PauseState.UNKNOWN);
        find("orders");
        assertThat(of("orders")).isEqualTo(PauseState.NONE);
        assertThat(of("other")).isEqualTo(PauseState.NONE);
        look();
        look();
        assertThat(read).containsExactly(Pause.CHANGES, Pause.CHANGES, Pause.CHANGES);
        assertThat(news).as("the held calls go on, and nothing else happens").isEqualTo(1);
    }

    @Test
    void instanceThatObeysNoPausesReadsNothing() {
        Pauses deaf = new Pauses(this::schedule, () -> now, INTERVAL, TIMEOUT, this::inspect, Set::of, () -> {});
        assertThat(deaf.of("orders", "orders")).isEqualTo(PauseState.NONE);
        assertThat(deaf.possible("orders", "orders")).isEmpty();
        assertThat(read).isEmpty();
    }

    @Test
    void freshInstanceKnowsAPauseBeforeTheFirstCallOfTheName() {
        pause(ORDERS);
        inUse = Set.of("orders");
        find("orders");
        assertThat(of("orders")).isEqualTo(PauseState.PAUSED);
        assertThat(of("invoices")).isEqualTo(PauseState.UNKNOWN);
        find("invoices");
        assertThat(of("invoices")).isEqualTo(PauseState.NONE);
        int before = read.size();
        look();
        assertThat(read.subList(before, read.size())).as("the pause may end").containsExactly(Pause.CHANGES, ORDERS);
    }

    @Test
    void pauseOfANameInUseIsSeenByTheNextLookAndSoIsItsEnd() {
        find("orders");
        inUse = Set.of("orders");
        pause(ORDERS);
        assertThat(of("orders")).isEqualTo(PauseState.NONE);
        look();
        assertThat(of("orders")).isEqualTo(PauseState.PAUSED);
        store.remove(ORDERS);
        changed();
        look();
        assertThat(of("orders")).isEqualTo(PauseState.NONE);
    }

    @Test
    void applicationAndPatternPauseTheirNames() {
        find("orders");
        inUse = Set.of("tenant.a", "tenant.*");
        pause(Pause.ofName("tenant.*"));
        look();
        assertThat(pauses.of("tenant.a", "tenant.*")).isEqualTo(PauseState.PAUSED);
        find("orders");
        assertThat(of("orders")).isEqualTo(PauseState.NONE);
        pause(APPLICATION);
        look();
        assertThat(of("orders")).isEqualTo(PauseState.PAUSED);
        assertThat(pauses.possible("tenant.a", "tenant.*"))
                .containsExactly(Pause.ofName("tenant.a"), Pause.ofName("tenant.*"), APPLICATION);
    }

    @Test
    void pauseStaysWhileTheStoreFailsAndOtherNamesGoOn() {
        pause(ORDERS);
        inUse = Set.of("orders");
        find("orders");
        fails = true;
        look();
        find("invoices");
        assertThat(of("orders")).isEqualTo(PauseState.PAUSED);
        assertThat(of("invoices")).as("a matter of claims").isEqualTo(PauseState.NONE);
        store.put(Pause.ofName("invoices"), OverrideLimit.of(0));
        fails = false;
        look();
        assertThat(of("invoices")).as("read again when the store answers").isEqualTo(PauseState.PAUSED);
    }

    @Test
    void storeThatDoesNotAnswerHoldsCallsBackForACommandTimeoutOnly() {
        answers = false;
        find("orders");
        assertThat(of("orders")).isEqualTo(PauseState.UNKNOWN);
        tasks.stream()
                .filter(task -> task.delay() == TIMEOUT)
                .findFirst()
                .orElseThrow()
                .work()
                .run();
        assertThat(of("orders")).isEqualTo(PauseState.NONE);
        assertThat(news).isEqualTo(1);

        answers = true;
        pause(ORDERS);
        inUse = Set.of("orders");
        look();
        assertThat(of("orders")).isEqualTo(PauseState.PAUSED);
    }

    @Test
    void pauseThatVanishedWithTheDataOfTheStoreEnds() {
        pause(ORDERS);
        inUse = Set.of("orders");
        find("orders");
        store.clear();
        look();
        assertThat(of("orders")).isEqualTo(PauseState.NONE);
        assertThat(pauses.possible("orders", "orders")).isEmpty();
    }

    @Test
    void limitThatEndsByItselfIsNotedWithoutALook() {
        pause(ORDERS);
        inUse = Set.of("orders");
        find("orders");
        int before = news;
        store.remove(ORDERS);
        pauses.limitChanged(ORDERS);
        pauses.limitChanged(Pause.ofName("a name that no call uses"));
        assertThat(of("orders")).isEqualTo(PauseState.NONE);
        assertThat(news).isGreaterThan(before);
        assertThat(read).endsWith(ORDERS);
    }

    @Test
    void pauseThatEndedWhileItsReadFailedEndsWithALaterLook() {
        pause(ORDERS);
        inUse = Set.of("orders");
        find("orders");
        store.remove(ORDERS);
        changed();
        failing.add(ORDERS);
        look();
        assertThat(of("orders")).isEqualTo(PauseState.PAUSED);
        failing.clear();
        look();
        assertThat(of("orders")).isEqualTo(PauseState.NONE);

        store.put(ORDERS, OverrideLimit.of(0));
        changed();
        look();
        store.remove(ORDERS); // directly in the store, which notifies no instance then
        look();
        assertThat(of("orders")).isEqualTo(PauseState.NONE);
    }

    @Test
    void namesThatAreNotKnownGoOnWhileTheStoreDoesNotAnswerAndAreReadAfterwards() {
        pause(ORDERS);
        inUse = Set.of("orders");
        find("orders");
        fails = true;
        look();
        assertThat(of("orders")).isEqualTo(PauseState.PAUSED);
        assertThat(of("a name that was never used")).isEqualTo(PauseState.NONE);
        store.put(Pause.ofName("invoices"), OverrideLimit.of(0));
        inUse = Set.of("orders", "invoices");
        fails = false;
        pauses.storeIsReachable();
        assertThat(of("invoices")).isEqualTo(PauseState.PAUSED);
        int before = read.size();
        pauses.storeIsReachable();
        assertThat(read).hasSize(before);
    }

    @Test
    void answerThatIsOlderThanAChangeDoesNotHideIt() {
        find("invoices");
        inUse = Set.of("orders");
        pause(APPLICATION);
        store.remove(APPLICATION);
        answers = false;
        look();
        open.remove(0).complete(state(Pause.CHANGES));
        List<CompletableFuture<KeyState>> old = List.copyOf(open);
        KeyState running = state(ORDERS);
        open.clear();
        pause(ORDERS);
        pauses.lookNow();
        open.remove(0).complete(state(Pause.CHANGES));
        assertThat(open).as("each key is being read already").isEmpty();
        answers = true;
        old.forEach(read -> read.complete(running));
        assertThat(of("orders")).isEqualTo(PauseState.PAUSED);
    }

    @Test
    void fewKeysAreReadAtOnceAndTheirNumberIsBounded() {
        pause(ORDERS);
        answers = false;
        inUse = IntStream.range(0, 100).mapToObj(i -> "name-" + i).collect(Collectors.toSet());
        find("orders");
        open.remove(0).complete(state(Pause.CHANGES));
        assertThat(open).hasSize(8);
        while (!open.isEmpty()) {
            open.remove(0).complete(state(ORDERS + "x"));
            assertThat(open).hasSizeLessThanOrEqualTo(8);
        }
        assertThat(of("name-99")).isEqualTo(PauseState.NONE);
    }

    @Test
    void storeThatAnswersAtOnceIsAskedForManyNames() {
        pause(ORDERS);
        inUse = IntStream.range(0, 30_000).mapToObj(i -> "name-" + i).collect(Collectors.toSet());
        find("name-1");
        assertThat(read).hasSizeGreaterThan(30_000);
        find("orders");
        assertThat(of("orders")).isEqualTo(PauseState.PAUSED);
    }

    @Test
    void looksBeginAgainAfterTheSchedulerHadNoThread() {
        find("orders");
        Task next = tasks.stream()
                .filter(task -> task.delay() == INTERVAL)
                .findFirst()
                .orElseThrow();
        tasks.remove(next);
        rejects = true;
        assertThatThrownBy(() -> next.work().run()).isInstanceOf(RejectedExecutionException.class);
        assertThat(of("orders")).isEqualTo(PauseState.UNKNOWN);
        rejects = false;
        find("orders");
        assertThat(of("orders")).isEqualTo(PauseState.NONE);
        look();
    }

    @Test
    void nothingIsReadAfterTheEnd() {
        find("orders");
        pauses.close();
        pauses.lookNow();
        assertThat(tasks).isEmpty();
        assertThat(read).hasSize(1);
    }
}
