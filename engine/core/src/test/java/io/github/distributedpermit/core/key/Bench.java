package io.github.distributedpermit.core.key;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Release;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** Engines around one simulated store, on a clock that the test drives. A message takes half a millisecond. */
final class Bench {

    static final String KEY = "report";
    static final Duration LEASE = CoreSettings.DEFAULTS.lease();
    static final Duration COMMAND = CoreSettings.DEFAULTS.commandTimeout();
    static final Duration SLICE = Duration.ofMillis(5);
    static final Duration STORE_TIMEOUT = Objects.requireNonNull(PermitSettings.BASE.storeTimeout());

    final Timeline time = new Timeline();
    final SimNetwork network = new SimNetwork(time, () -> new StepTable(Duration.ofSeconds(30)));
    final Conditions conditions = new Conditions();

    Bench() {
        network.weather = conditions;
    }

    /** A member for which the key has this limit. */
    Party member(String id, int limit) {
        return member(id, limit, CoreSettings.DEFAULTS);
    }

    Party member(String id, int limit, CoreSettings settings) {
        return member(id, limit, settings, Observers.NONE);
    }

    Party member(String id, int limit, CoreSettings settings, Observers observers) {
        return new Party(this, id, limit, settings, observers);
    }

    /** A member with these settings of its permits. */
    Party member(String id, Map<String, PermitSettings> named, CoreSettings settings, Observers observers) {
        return new Party(this, id, named, settings, observers);
    }

    static Observers observing(PermitObserver observer) {
        return new Observers(List.of(observer));
    }

    void run(Duration duration) {
        time.run(duration.toNanos());
    }

    void runMillis(long millis) {
        run(Duration.ofMillis(millis));
    }

    void override(int limit) {
        network.server.override(KEY, OverrideLimit.of(limit));
    }

    void liftOverride() {
        network.server.override(KEY, OverrideLimit.empty());
    }

    /** How many permits the store has recorded. */
    int used() {
        SimTable table = network.server.find(KEY);
        return table == null ? 0 : table.used();
    }

    static PermitSettings limit(int limit) {
        return PermitSettings.ofLimit(limit);
    }

    static CoreSettings linger(Duration linger) {
        return CoreSettings.DEFAULTS.toBuilder()
                .permits(PermitSettings.builder().linger(linger).build())
                .build();
    }

    /** With calls that end when the store has confirmed it, and time-outs beyond those of any test. */
    static CoreSettings synchronous() {
        return CoreSettings.DEFAULTS.toBuilder()
                .lease(Duration.ofHours(1))
                .commandTimeout(Duration.ofMinutes(10))
                .permits(PermitSettings.builder()
                        .storeTimeout(Duration.ofMinutes(10))
                        .release(Release.SYNC)
                        .build())
                .build();
    }

    static CoreSettings storeTimeout(Duration storeTimeout) {
        return CoreSettings.DEFAULTS.toBuilder()
                .permits(PermitSettings.builder().storeTimeout(storeTimeout).build())
                .build();
    }

    static CoreSettings bounded(int maxWaiting, int maxKeys) {
        return CoreSettings.DEFAULTS.toBuilder()
                .permits(PermitSettings.builder().maxWaiting(maxWaiting).build())
                .maxKeys(maxKeys)
                .build();
    }

    /** One member. */
    static final class Party {
        final Bench bench;
        final SimProcess process;
        final PermitEngine engine;
        final SimLink link;

        private Party(Bench bench, String id, int limit, CoreSettings settings, Observers observers) {
            this(bench, id, Map.of(KEY, limit(limit)), settings, observers);
        }

        private Party(
                Bench bench, String id, Map<String, PermitSettings> named, CoreSettings settings, Observers observers) {
            this.bench = bench;
            process = new SimProcess(id, bench.time, 1_000_000_007L);
            engine = new PermitEngine(
                    bench.network.backend(process),
                    new Member(id, id),
                    settings,
                    PermitSettings.NONE,
                    named,
                    new CoreEnvironment(process::clock, process, Runnable::run, Runnable::run, () -> 0.5, observers));
            link = bench.network.link(id);
        }

        Asked ask(PermitRequest request) {
            return new Asked(engine.named(KEY).acquireAsync(request));
        }

        Asked acquire() {
            return ask(PermitRequest.of(KEY));
        }

        /** Asks for a key of this name. */
        Asked acquireOf(String key, Duration timeout) {
            return ask(PermitRequest.of(key).withTimeout(timeout));
        }

        Asked acquire(int permits) {
            return ask(PermitRequest.of(KEY).withPermits(permits));
        }

        Asked acquire(Duration timeout) {
            return ask(PermitRequest.of(KEY).withTimeout(timeout));
        }

        Asked tryAcquire() {
            return ask(PermitRequest.of(KEY).withoutWaiting());
        }

        /** Asks and waits a moment for the answer. */
        Permit hold() {
            Asked asked = acquire();
            bench.runMillis(2);
            return asked.permit();
        }

        long claims() {
            return link.claims.size();
        }

        Claim lastClaim() {
            return link.claims.get(link.claims.size() - 1);
        }

        List<Claim> claimsAfter(long count) {
            return link.claims.subList((int) count, link.claims.size());
        }
    }

    /** One call. */
    static final class Asked {
        final CompletableFuture<Permit> future;
        private @Nullable Permit permit;
        private @Nullable Throwable failure;

        Asked(CompletableFuture<Permit> future) {
            this.future = future;
            future.whenComplete((p, e) -> {
                permit = p;
                failure = e;
            });
        }

        boolean isWaiting() {
            return !future.isDone();
        }

        boolean holds() {
            return permit != null && permit.isHeld();
        }

        Permit permit() {
            if (permit == null) {
                throw new AssertionError("no permit: " + failure);
            }
            return permit;
        }

        void release() {
            permit().release();
        }

        @Nullable
        Throwable failure() {
            return failure;
        }
    }

    /** Weather that a test changes. */
    static final class Conditions implements Weather {
        long delay = MILLI / 2;
        boolean claimsLost;
        boolean answersLost;
        boolean pushesLost;
        boolean refusing;
        /** For how long a claim of this sequence waits in the client. */
        LongUnaryOperator writing = sequence -> 0;

        @Override
        public long writeDelay(long sequence) {
            return writing.applyAsLong(sequence);
        }

        @Override
        public long claimDelay() {
            return claimsLost || refusing ? LOST : delay;
        }

        @Override
        public long answerDelay() {
            return answersLost ? LOST : delay;
        }

        @Override
        public long pushDelay() {
            return pushesLost ? LOST : delay;
        }

        @Override
        public boolean fails() {
            return refusing;
        }
    }
}
