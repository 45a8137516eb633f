package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** One that can't be told must not keep others from being told. */
class EffectsTest {

    private static final String KEY = "report";

    private final Timeline time = new Timeline();

    @Test
    void callsAreServedThoughTheMachineHasNoMoreThreads() {
        List<CompletableFuture<Permit>> calls = calls(task -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        assertThat(calls).allMatch(CompletableFuture::isDone);
    }

    @Test
    void callsAreServedThoughTellingOneFails() {
        int[] told = {0};
        List<CompletableFuture<Permit>> calls = calls(task -> {
            if (told[0]++ == 0) {
                throw new IllegalStateException("planted");
            }
            task.run();
        });
        assertThat(calls.stream().filter(CompletableFuture::isDone)).hasSize(2);
    }

    /** As with a handler that is configured to throw. The listeners throw as well, so that their own log line fails. */
    @Test
    void allAreNotifiedOfTheirLossThoughTheLogThrows() {
        Bench bench = new Bench();
        Bench.Party member = bench.member("a", 3);
        List<String> losses = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            member.hold().onLoss(() -> {
                losses.add("lost");
                throw new IllegalStateException("planted");
            });
        }
        Handler broken = new BrokenHandler();
        List<Logger> logs = Stream.of(
                        "core.store.StoreLog", "core.key.Effects", "core.key.LossListeners", "core.member.Observers")
                .map(name -> Logger.getLogger("io.github.distributedpermit." + name))
                .toList();
        logs.forEach(log -> log.addHandler(broken));
        try {
            bench.conditions.claimsLost = true;
            bench.run(Bench.LEASE.plusSeconds(5)); // before the timer that logs how many more were lost
        } finally {
            logs.forEach(log -> log.removeHandler(broken));
        }
        assertThat(losses).hasSize(3);
    }

    /** The store in memory has dropped the permits by then. */
    @Test
    void callThatStillRunsWhenItsInstanceLeavesIsNotifiedBeforeOthersHaveItsPermit() {
        PermitRequest all = PermitRequest.of(KEY).withPermits(3);
        LocalPermitBackend backend = new LocalPermitBackend(time::now);
        PermitEngine leaving = engine("a", backend, Runnable::run);
        PermitEngine other = engine("b", backend, Runnable::run);
        Permit permit = take(leaving, all).join();
        List<String> losses = new ArrayList<>();
        permit.onLoss(() ->
                losses.add(take(other, all.withoutWaiting()).isCompletedExceptionally() ? "lost" : "lost too late"));

        leaving.close();

        assertThat(losses).containsExactly("lost");
        assertThat(permit.isHeld()).isFalse();
        assertThat(take(other, all.withoutWaiting())).isCompleted();
        assertThat(permit.release()).isFalse();
    }

    private static CompletableFuture<Permit> take(PermitEngine engine, PermitRequest request) {
        return engine.named(KEY).acquireAsync(request);
    }

    /** Three calls that are served at once, when a pause is over. */
    private List<CompletableFuture<Permit>> calls(Executor executor) {
        PermitEngine engine = engine(executor);
        engine.override(KEY, OverrideLimit.of(0)).toCompletableFuture().join();
        List<CompletableFuture<Permit>> calls = IntStream.range(0, 3)
                .mapToObj(i -> engine.named(KEY).acquireAsync(PermitRequest.of(KEY)))
                .toList();
        assertThat(calls).noneMatch(CompletableFuture::isDone);
        engine.override(KEY, OverrideLimit.empty()).toCompletableFuture().join();
        time.run(CoreSettings.DEFAULTS.recheck().toNanos());
        return calls;
    }

    private PermitEngine engine(Executor executor) {
        return engine("a", new LocalPermitBackend(time::now), executor);
    }

    private PermitEngine engine(String id, LocalPermitBackend backend, Executor executor) {
        SimProcess process = new SimProcess(id, time, 1_000_000_007L);
        return new PermitEngine(
                backend,
                new Member(id, id),
                CoreSettings.DEFAULTS,
                PermitSettings.NONE,
                Map.of(KEY, PermitSettings.ofLimit(3)),
                CoreEnvironment.of(process::clock, process, executor, executor, Observers.NONE));
    }

    private static final class BrokenHandler extends Handler {

        @Override
        public void publish(LogRecord line) {
            throw new IllegalStateException("planted");
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
