package io.github.distributedpermit.backend.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.step.FullHeap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What only the store in memory does. */
class LocalPermitBackendTest {

    private static final String KEY = "k";

    private final AtomicLong nanos = new AtomicLong();
    private final LocalPermitBackend backend = new LocalPermitBackend(() -> nanos.addAndGet(1_000));
    private final AtomicLong sequence = new AtomicLong();

    @Test
    void closedStoreGivesBackWhatItsMemberHeldAndServesTheLine() {
        List<String> told = new ArrayList<>();
        PermitStore a = backend.join(new Member("a", "a"), new Listener(told));
        PermitStore b = backend.join(new Member("b", "b"), new Listener(told));
        claim(a, KEY, 1, 1);
        claim(b, KEY, 1, 1);

        a.close();

        assertThat(told).containsExactly("k: 1");
        assertThat(b.inspect(KEY).toCompletableFuture().join().members())
                .extracting("member")
                .containsExactly("b");
    }

    @Test
    void nothingIsLeftWhenAllMembersHaveLeft() {
        PermitStore a = join("a");
        for (int i = 0; i < 1_000; i++) {
            claim(a, "k" + i, 1, 1);
            claim(a, "k" + i, 1, i % 2);
        }

        a.close();

        assertThat(backend.keys.keys()).isEmpty();
    }

    @Test
    void closedStoreRefusesEverything() {
        PermitStore a = join("a");
        a.close();

        assertThatThrownBy(() -> claim(a, KEY, 1, 1))
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        PermitStoreException.class,
                        e -> assertThat(e.isPermanent()).isTrue());
        assertThat(a.inspect(KEY)).isCompletedExceptionally();
        assertThat(a.override(KEY, OverrideLimit.of(1))).isCompletedExceptionally();
        assertThat(backend.keys.keys()).isEmpty();
    }

    @Test
    void memberCannotJoinTwiceUnlessItHasLeft() {
        PermitStore a = join("a");

        assertThatThrownBy(() -> join("a")).isInstanceOf(IllegalStateException.class);
        a.close();
        claim(join("a"), KEY, 1, 1);
    }

    @Test
    void hundredThousandKeysUsedOnceAreSweptByLaterOperations() {
        PermitStore a = join("a");
        for (int i = 0; i < 100_000; i++) {
            claim(a, "k" + i, 1, 1);
            claim(a, "k" + i, 1, 0);
        }
        for (int turn = 0; turn < 2; turn++) {
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(31));
            for (int i = 0; i < 2_000; i++) {
                a.inspect("other").toCompletableFuture().join();
            }
        }

        assertThat(backend.keys.keys()).isEmpty();
        assertThat(backend.keys.turns).isEmpty();
    }

    @Test
    void keyThatGoesAndComesBackIsLookedAtOnce() {
        PermitStore a = join("a");
        for (int i = 0; i < 100; i++) {
            claim(a, KEY, 1, 1);
            claim(a, KEY, 1, 0);
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(31));
            a.inspect(KEY).toCompletableFuture().join();
        }

        assertThat(backend.keys.turns).hasSizeLessThanOrEqualTo(2);
    }

    @Test
    void listenerMayClaimAndMayFail() {
        PermitStore a = join("a");
        AtomicInteger heard = new AtomicInteger();
        PermitStore[] b = new PermitStore[1];
        b[0] = backend.join(new Member("b", "b"), new Listener(new ArrayList<>()) {
            @Override
            public void granted(String key, Holding holding) {
                heard.set(claim(b[0], key, 1, 1).permits());
                throw new IllegalStateException("on purpose");
            }
        });
        claim(a, KEY, 1, 1);
        claim(b[0], KEY, 1, 1);

        assertThat(claim(a, KEY, 1, 0).permits()).isZero();
        assertThat(heard).hasValue(1);
    }

    @Test
    void stepThatAnErrorCutsShortChangesNothing() {
        PermitStore a = join("a");
        PermitStore b = join("b");
        PermitStore c = join("c");
        claim(a, KEY, 2, 1);
        claim(b, KEY, 2, 2); // gets one, and waits for the other
        Claim returned = Claim.of(KEY, sequence.incrementAndGet(), Duration.ofMinutes(1))
                .limit(2)
                .wanted(0);

        FullHeap.strike(Objects.requireNonNull(backend.keys.tables.get(KEY)));
        assertThatThrownBy(() -> a.claim(returned)).isInstanceOf(OutOfMemoryError.class);
        assertThat(claim(c, KEY, 2, 1).permits()).isZero();
        assertThat(used(a)).isEqualTo(2);

        a.claim(returned);
        assertThat(used(a)).isEqualTo(2);
        assertThat(claim(b, KEY, 2, 2).permits()).isEqualTo(2);
        assertThat(claim(c, KEY, 2, 1).permits()).isZero();
        claim(b, KEY, 2, 0);
        claim(c, KEY, 2, 0);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(31));
        assertThat(used(a)).isZero();
        assertThat(backend.keys.keys()).isEmpty();
    }

    private static int used(PermitStore store) {
        return store.inspect(KEY).toCompletableFuture().join().used();
    }

    @Test
    void manyThreadsNeverExceedTheLimitAndLeaveNothing() throws Exception {
        LocalPermitBackend real = new LocalPermitBackend();
        int limit = 3;
        AtomicInteger inUse = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger granted = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<?>> runs = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                PermitStore store = real.join(new Member("m" + i, "m"), new Listener(new ArrayList<>()));
                runs.add(threads.submit(() -> {
                    for (int n = 0; n < 5_000; n++) {
                        if (attempt(store, limit).permits() == 1) {
                            granted.incrementAndGet();
                            most.accumulateAndGet(inUse.incrementAndGet(), Math::max);
                            inUse.decrementAndGet();
                        }
                        claim(store, KEY, limit, 0);
                    }
                }));
            }
            for (Future<?> run : runs) {
                run.get(300, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }

        assertThat(most.get()).isLessThanOrEqualTo(limit);
        assertThat(granted.get()).isPositive();
        assertThat(attempt(real.join(new Member("last", "m"), new Listener(new ArrayList<>())), limit)
                        .permits())
                .isEqualTo(1);
    }

    private PermitStore join(String id) {
        return backend.join(new Member(id, id), new Listener(new ArrayList<>()));
    }

    private Holding claim(PermitStore store, String key, int limit, int wanted) {
        Claim claim = Claim.of(key, sequence.incrementAndGet(), Duration.ofMinutes(1))
                .limit(limit)
                .wanted(wanted)
                .queued(1);
        return store.claim(claim).toCompletableFuture().join();
    }

    private Holding attempt(PermitStore store, int limit) {
        Claim claim = Claim.of(KEY, sequence.incrementAndGet(), Duration.ofMinutes(1))
                .limit(limit)
                .wanted(1)
                .tried(1);
        return store.claim(claim).toCompletableFuture().join();
    }

    private static class Listener implements HoldingListener {

        private final List<String> told;

        Listener(List<String> told) {
            this.told = told;
        }

        @Override
        public void granted(String key, Holding holding) {
            told.add(key + ": " + holding.permits());
        }

        @Override
        public void changed(String key) {}

        @Override
        public void alive(long sentAtNanos) {}

        @Override
        public void lost() {}
    }
}
