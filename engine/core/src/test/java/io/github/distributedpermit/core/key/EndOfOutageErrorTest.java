package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.store.StoreProbe;
import io.github.distributedpermit.core.store.StoreWatch;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** An error while the calls that run without the store begin to ask it for their permits: none of them goes on without asking. */
class EndOfOutageErrorTest {

    private static final long SECOND = 1_000_000_000L;

    private final List<Runnable> tasks = new ArrayList<>();
    private long now;
    private int keysUntilError;

    private final QueueUnderLincheck.OnlyMember host = new QueueUnderLincheck.OnlyMember(false) {
        @Override
        public UnlimitedGrants unlimitedGrants() {
            return grants;
        }
    };
    private final UnlimitedGrants grants = new UnlimitedGrants(host);

    private final KeyQueueState.Callbacks queue = new KeyQueueState.Callbacks() {
        @Override
        public String key() {
            if (--keysUntilError == 0) {
                throw new OutOfMemoryError("planted");
            }
            return "queue";
        }

        @Override
        public boolean isValid(Grant grant) {
            return true;
        }

        @Override
        public boolean release(Grant grant) {
            return true;
        }

        @Override
        public void notice(Runnable task) {}

        @Override
        public void answered(long sequence, Holding holding) {}

        @Override
        public void failed(long sequence, Throwable cause) {}

        @Override
        public long time(long tickerNanos) {
            return tickerNanos;
        }
    };

    private final PermitName permit = new PermitName(
            PermitDefinition.named("queue", "the test").limit(5).build(),
            Policy.of(
                    CoreSettings.DEFAULTS,
                    PermitSettings.builder()
                            .limit(5)
                            .onStoreFailure(OnStoreFailure.ALLOW)
                            .build()
                            .orElse(PermitSettings.BASE)));
    private final KeyQueueState state = new KeyQueueState("queue", queue, permit.policy(), host);

    private Effects effects() {
        Effects.Source source = new Effects.Source() {
            @Override
            public boolean trouble(Throwable cause) {
                return true;
            }

            @Override
            public void alarmFailed(Alarm which) {}
        };
        return new Effects(source, host);
    }

    private Waiter call() {
        Waiter waiter = new Waiter(permit, "queue", 1, true, now++, outcome -> {});
        Effects effects = effects();
        state.enter(waiter, now, effects);
        state.settle(now, effects);
        return waiter;
    }

    /** Probes are answered for a while. */
    private void storeAnswers(StoreWatch watch) {
        StoreProbe probe = new StoreProbe(
                watch,
                wanted -> CompletableFuture.completedFuture(new Holding(wanted, 1, 1, 1, Holding.Others.NONE)),
                (task, delay) -> {
                    tasks.add(task);
                    return () -> {};
                },
                () -> now,
                SECOND,
                lasted -> {});
        probe.begin();
        while (watch.isBypassed()) {
            now += SECOND;
            List.copyOf(tasks).forEach(Runnable::run);
        }
    }

    @Test
    void eachCallAsksForItsPermitInTheOrderOfTheCalls() {
        StoreWatch watch = host.watch();
        watch.asked(now);
        now += permit.policy().storeTimeout();
        watch.failed(PermitStoreException.passing("no connection", null), 0, now, Runnable::run);
        List<Waiter> calls = List.of(call(), call(), call());
        assertThat(calls).allMatch(call -> call.outcome() instanceof Grant grant && grant.isOfOutage());
        storeAnswers(watch);

        keysUntilError = 2;
        assertThatThrownBy(() -> state.begin(now, effects())).isInstanceOf(OutOfMemoryError.class);
        state.mend(effects());
        state.begin(now, effects());

        List<Outcome> asking = new ArrayList<>();
        for (Waiter waiter = state.waiters.first(); waiter != null; waiter = waiter.next) {
            asking.add(((OutageCall.Adoption) waiter).call.grant);
        }
        assertThat(asking)
                .containsExactlyElementsOf(calls.stream()
                        .map(call -> Objects.requireNonNull(call.outcome()))
                        .toList());
        assertThat(state.outageCalls.isOn()).isFalse();
    }
}
