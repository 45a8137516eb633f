package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.testsupport.Logged;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** What calls, operators and gauges learn of keys for which the store has lost its state. */
class GraceReportTest {

    private final Timeline time = new Timeline();
    private final SimProcess process = new SimProcess("m", time, 0);
    private final Store store = new Store();
    private final List<Duration> ended = new ArrayList<>();
    private final PermitEngine engine = new PermitEngine(
            store,
            new Member("m", "m"),
            CoreSettings.DEFAULTS,
            PermitSettings.NONE,
            Map.of(
                    "k0",
                    PermitSettings.ofLimit(2),
                    "k1",
                    PermitSettings.ofLimit(2),
                    "k2",
                    PermitSettings.ofLimit(2),
                    "k3",
                    PermitSettings.ofLimit(2)),
            new CoreEnvironment(process::clock, process, Runnable::run, Runnable::run, () -> 0.5, observers()));

    private Observers observers() {
        return new Observers(List.of(new PermitObserver() {
            @Override
            public void graceEnded(Duration lasted) {
                ended.add(lasted);
            }
        }));
    }

    @Test
    void callThatDoesNotWaitFailsInGraceAndIsRejectedOutsideOfIt() {
        store.grace = true;
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> attempt("k0"))
                .withCauseInstanceOf(PermitBackendException.class)
                .withStackTraceContaining("has lost the state of this key");

        store.grace = false;
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> attempt("k0"))
                .withCauseInstanceOf(PermitRejectedException.class);
    }

    @Test
    void gaugeCountsKeysInGrace() {
        assertThat(engine.status().inGrace()).isZero();
        store.grace = true;
        List<CompletableFuture<Permit>> waiting = List.of(wait("k0"), wait("k1"));
        pass(Duration.ofSeconds(2));
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        assertThat(engine.status().inGrace()).isEqualTo(2);

        store.grace = false;
        pass(Duration.ofSeconds(2));
        assertThat(engine.status().inGrace()).isZero();
    }

    @Test
    void lossIsLoggedOnceForAllKeysAndSoIsItsEnd() {
        store.grace = true;
        try (Logged logged = new Logged(StoreLogs.TYPE)) {
            wait("k0");
            wait("k1");
            assertThat(logged.texts())
                    .singleElement()
                    .asString()
                    .contains(
                            "may have lost state: it has no data", "For up to 15000 ms", "key 'k0', and of other keys");
            assertThat(engine.status().graceLeft()).hasValue(Duration.ofSeconds(15));

            for (int i = 0; i < 9; i++) { // in a grace again and again
                store.grace = i % 2 == 1;
                assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> attempt("k1"));
                assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> attempt("k3"));
            }
            store.grace = true;
            pass(Duration.ofSeconds(12));
            wait("k2");
            assertThat(logged.texts()).as("no second loss").hasSize(1);
            assertThat(engine.status().graceLeft()).hasValue(Duration.ofSeconds(3));

            pass(Duration.ofSeconds(5));
            assertThat(logged.texts()).as("another instance has a longer lease").hasSize(1);
            assertThat(engine.status().graceLeft()).isEmpty();
            store.grace = false;
            pass(Duration.ofSeconds(20));
            assertThat(engine.status().inGrace()).isZero();
            assertThat(ended)
                    .singleElement()
                    .satisfies(lasted -> assertThat(lasted).isBetween(Duration.ofSeconds(17), Duration.ofSeconds(25)));

            store.grace = true;
            store.epoch++;
            wait("k3");
            assertThat(logged.texts()).as("a second loss").hasSize(2);
        }
    }

    @Test
    void reasonIsAnotherServerIfItsEpochChanges() {
        store.grants = 1;
        attempt("k0");
        store.epoch++;
        store.grants = 0;
        store.grace = true;
        try (Logged logged = new Logged(StoreLogs.TYPE)) {
            wait("k0");
            pass(Duration.ofSeconds(6));
            assertThat(logged.texts())
                    .filteredOn(line -> line.contains("may have lost state"))
                    .last()
                    .asString()
                    .contains("another server answers, or the same one after it was restarted");
        }
    }

    private void attempt(String key) {
        engine.named(key)
                .acquireAsync(PermitRequest.of(key).withoutWaiting())
                .toCompletableFuture()
                .join();
    }

    private CompletableFuture<Permit> wait(String key) {
        return engine.named(key).acquireAsync(PermitRequest.of(key)).toCompletableFuture();
    }

    private void pass(Duration length) {
        long end = time.now() + length.toNanos();
        boolean more = time.step(end);
        while (more) {
            more = time.step(end);
        }
    }

    /** The log is internal to another package. */
    private static final class StoreLogs {
        static final Class<?> TYPE = type();

        private static Class<?> type() {
            try {
                return Class.forName("io.github.distributedpermit.core.store.StoreLog");
            } catch (ClassNotFoundException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Answers each claim at once. */
    private static final class Store implements PermitBackend, PermitStore {

        boolean grace;
        int grants;
        long epoch = 7;
        private long version;

        @Override
        public String name() {
            return "simulated";
        }

        @Override
        public PermitStore join(Member member, HoldingListener listener) {
            return this;
        }

        @Override
        public CompletionStage<Holding> claim(Claim claim) {
            int permits = Math.min(grants, claim.counts().wanted());
            return CompletableFuture.completedFuture(new Holding(
                    permits,
                    2,
                    claim.sequence(),
                    ++version,
                    epoch,
                    new Holding.Others(false, false, grace, Optional.empty())));
        }

        @Override
        public CompletionStage<KeyState> inspect(String key) {
            return CompletableFuture.completedFuture(new KeyState(key, 0, OverrideLimit.empty(), List.of()));
        }

        @Override
        @SuppressWarnings("NullAway") // a Void is null
        public CompletionStage<Void> override(String key, OverrideLimit limit) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletionStage<Void> lift(String key, OverrideLimit ended) {
            return override(key, OverrideLimit.empty());
        }

        @Override
        public void close() {}
    }
}
