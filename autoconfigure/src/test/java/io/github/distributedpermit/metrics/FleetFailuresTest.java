package io.github.distributedpermit.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.KeyDirectory;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What a refresh of the meters of all instances does when something fails in it. */
@ExtendWith(OutputCaptureExtension.class)
class FleetFailuresTest {

    private final FleetView view = new FleetView(Duration.ofMinutes(1));
    private final Set<String> failing = new HashSet<>();

    @Test
    void anErrorOfTheListOfKeysDoesNotEndLaterRefreshes(CapturedOutput output) throws Exception {
        Directory keys = new Directory(List.of("key"), key -> CompletableFuture.completedFuture(used(key))) {
            @Override
            public void forEachKey(BiConsumer<String, String> consumer) {
                once("list");
                super.forEachKey(consumer);
            }
        };
        check(refresh(keys, name -> 1), output);
    }

    @Test
    void anErrorOfAnInspectionDoesNotEndLaterRefreshes(CapturedOutput output) throws Exception {
        Directory keys = new Directory(List.of("key"), key -> {
            once("inspect");
            return CompletableFuture.completedFuture(used(key));
        });
        check(refresh(keys, name -> 1), output);
    }

    @Test
    void anErrorOfALimitDoesNotEndLaterRefreshes(CapturedOutput output) throws Exception {
        // the answer comes on another thread, so that the error strikes in the callback
        Directory keys = new Directory(
                List.of("key"),
                key -> CompletableFuture.supplyAsync(
                        () -> used(key), CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS)));
        check(
                refresh(keys, name -> {
                    once("limit");
                    return 1;
                }),
                output);
    }

    private void check(FleetRefresh refresh, CapturedOutput output) throws Exception {
        refresh.refresh().get(30, TimeUnit.SECONDS);
        assertThat(view.value("name", FleetTotals::holders)).isNaN();
        refresh.refresh().get(30, TimeUnit.SECONDS);
        assertThat(view.value("name", FleetTotals::holders)).isEqualTo(1);
        assertThat(output.getAll()).containsOnlyOnce("Could not read all keys for the meters");
    }

    @Test
    void keysThatTheStoreRefusesForGoodDoNotKeepTheOthersFromTheirNumbers() throws Exception {
        List<String> all = IntStream.range(0, 23)
                .mapToObj(i -> i < 3 ? "bad-" + i : "good-" + i)
                .toList();
        Directory keys = new Directory(
                all,
                key -> key.startsWith("bad")
                        ? CompletableFuture.failedFuture(PermitStoreException.permanent("foreign type", null))
                        : CompletableFuture.completedFuture(used(key)));
        refresh(keys, name -> 1).refresh().get(30, TimeUnit.SECONDS);
        assertThat(view.value("name", FleetTotals::holders)).isEqualTo(20);
        assertThat(view.keys("name", FleetTotals::skipped)).isEqualTo(3);
    }

    @Test
    void aStoreThatDoesNotAnswerIsAskedForAFewKeysOnly() throws Exception {
        List<String> all = IntStream.range(0, 50).mapToObj(i -> "key-" + i).toList();
        Set<String> asked = new HashSet<>();
        Directory keys = new Directory(all, key -> {
            asked.add(key);
            return CompletableFuture.failedFuture(PermitStoreException.passing("away", null));
        });
        refresh(keys, name -> 1).refresh().get(30, TimeUnit.SECONDS);
        assertThat(asked).hasSize(3);
        assertThat(view.keys("name", FleetTotals::skipped)).isEqualTo(50);
    }

    @Test
    void whatIsNotKnownWhileTheStoreIsAwayIsNoNumber() throws Exception {
        Directory keys = new Directory(
                List.of("key"), key -> CompletableFuture.failedFuture(PermitStoreException.passing("away", null)));
        refresh(keys, name -> 1).refresh().get(30, TimeUnit.SECONDS);
        assertThat(view.value("name", FleetTotals::full)).isNaN();
        assertThat(view.keys("name", FleetTotals::knownPaused)).isNaN();
        assertThat(view.keys("name", FleetTotals::skipped)).isEqualTo(1);
    }

    /** An alert about long waits asks whether all keys are, and this instance knows it without the store. */
    @Test
    void allKeysOfAPausedNameArePausedAlsoThoseThatWereNotInspected() throws Exception {
        List<String> all = IntStream.range(0, 120).mapToObj(i -> "key-" + i).toList();
        Directory answering = new Directory(all, key -> CompletableFuture.completedFuture(used(key)));
        refresh(answering, name -> 1, true).refresh().get(30, TimeUnit.SECONDS);
        assertThat(view.keys("name", FleetTotals::inspected)).isEqualTo(100);
        assertThat(view.keys("name", FleetTotals::knownPaused)).isEqualTo(120);
        assertThat(view.value("name", FleetTotals::limit)).isZero();
        Directory away =
                new Directory(all, key -> CompletableFuture.failedFuture(PermitStoreException.passing("away", null)));
        refresh(away, name -> 1, true).refresh().get(30, TimeUnit.SECONDS);
        assertThat(view.keys("name", FleetTotals::knownPaused)).isEqualTo(120);
        assertThat(view.value("name", FleetTotals::holders)).isNaN();
    }

    private FleetRefresh refresh(KeyDirectory keys, ToIntFunction<String> limits) {
        return refresh(keys, limits, false);
    }

    private FleetRefresh refresh(KeyDirectory keys, ToIntFunction<String> limits, boolean paused) {
        return new FleetRefresh(keys, limits, name -> paused, view, 100, Duration.ofMinutes(1));
    }

    private void once(String what) {
        if (failing.add(what)) {
            throw new NoClassDefFoundError("planted in the test: " + what);
        }
    }

    private static KeyState used(String key) {
        return new KeyState(key, 1, OverrideLimit.empty(), List.of());
    }

    private static class Directory implements KeyDirectory {

        private final List<String> keys;
        private final Function<String, CompletionStage<KeyState>> states;

        Directory(List<String> keys, Function<String, CompletionStage<KeyState>> states) {
            this.keys = keys;
            this.states = states;
        }

        @Override
        public void forEachKey(BiConsumer<String, String> consumer) {
            keys.forEach(key -> consumer.accept("name", key));
        }

        @Override
        public CompletionStage<KeyState> inspect(String key) {
            return states.apply(key);
        }
    }
}
