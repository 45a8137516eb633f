package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A permit that is lost before its asynchronous call has received it, because the executor is busy. */
class LossBeforeEndTest {

    private final Bench bench = new Bench();
    private final Queue<Runnable> continuations = new ArrayDeque<>();
    private final List<String> events = new ArrayList<>();

    @Test
    void observerIsNotifiedOfTheLossAtOnceAndThatTheCallHasLostItsPermitAlready() {
        CompletableFuture<Permit> call = engine().named(Bench.KEY).acquireAsync(PermitRequest.of(Bench.KEY));
        bench.runMillis(3);
        assertThat(continuations).hasSize(1);
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE.plusSeconds(1));
        assertThat(events).containsExactly("lost");

        continuations.remove().run();
        assertThat(call.join().isHeld()).isFalse();
        assertThat(events).containsExactly("lost", "acquired, lost already");
        call.join().release();
        assertThat(events).containsExactly("lost", "acquired, lost already", "released");
    }

    @Test
    void observerOfACallThatHasReceivedItsPermitIsNotifiedOnce() {
        CompletableFuture<Permit> call = engine().named(Bench.KEY).acquireAsync(PermitRequest.of(Bench.KEY));
        bench.runMillis(3);
        continuations.remove().run();
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE.plusSeconds(1));
        call.join().release();
        assertThat(events).containsExactly("acquired", "lost", "released");
    }

    private PermitEngine engine() {
        SimProcess process = new SimProcess("a", bench.time, 1_000_000_007L);
        return new PermitEngine(
                bench.network.backend(process),
                new Member("a", "a"),
                CoreSettings.DEFAULTS,
                PermitSettings.NONE,
                Map.of(Bench.KEY, Bench.limit(1)),
                new CoreEnvironment(
                        process::clock,
                        process,
                        continuations::add,
                        Runnable::run,
                        () -> 0.5,
                        Bench.observing(new Recorder())));
    }

    private final class Recorder implements PermitObserver {

        @Override
        public void acquired(PermitCall call, Via via, Duration waited) {
            events.add(call.isLost() ? "acquired, lost already" : "acquired");
        }

        @Override
        public void lost(PermitCall call) {
            events.add("lost");
        }

        @Override
        public void released(PermitCall call, Duration held) {
            events.add("released");
        }
    }
}
