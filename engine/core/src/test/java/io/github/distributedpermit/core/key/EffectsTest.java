package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitObserver;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
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

    /** Three calls that are served at once, when a pause is over. */
    private List<CompletableFuture<Permit>> calls(Executor executor) {
        PermitEngine engine = engine(executor);
        engine.override(KEY, OptionalInt.of(0)).toCompletableFuture().join();
        List<CompletableFuture<Permit>> calls = IntStream.range(0, 3)
                .mapToObj(i -> engine.named(KEY).acquireAsync(PermitRequest.of(KEY)))
                .toList();
        assertThat(calls).noneMatch(CompletableFuture::isDone);
        engine.override(KEY, OptionalInt.empty()).toCompletableFuture().join();
        time.run(CoreSettings.DEFAULTS.recheck().toNanos());
        return calls;
    }

    private PermitEngine engine(Executor executor) {
        SimProcess process = new SimProcess("a", time, 1_000_000_007L);
        return new PermitEngine(
                new LocalPermitBackend(time::now),
                new Member("a", "a"),
                CoreSettings.DEFAULTS,
                PermitSettings.NONE,
                Map.of(KEY, PermitSettings.ofLimit(3)),
                CoreEnvironment.of(process::clock, process, executor, executor, PermitObserver.NONE));
    }
}
