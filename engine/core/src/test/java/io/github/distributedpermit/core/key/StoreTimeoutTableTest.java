package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.core.member.Observers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * No accepted combination of lease, store time-out and command time-out has a call outlast the store time-out, or its own,
 * while the store is silent. The lease is at least three command time-outs, and the store time-out at least one.
 */
class StoreTimeoutTableTest {

    /** What becomes of claims while the store is silent. */
    private enum Silence {
        /** All are written, and none arrives. */
        LOST,
        /** All wait in the client, as if behind a command without an answer or for a connection. */
        UNWRITTEN,
        /** Each waits in the client for most of the command time-out and is then lost. */
        WRITTEN_LATE,
        /** One is lost, the next one waits in the client. */
        IN_TURN
    }

    @ParameterizedTest(name = "lease {0}, store time-out {1}, command time-out {2}")
    @CsvSource({
        "PT15S, PT10S, PT2S",
        "PT3S, PT10S, PT1S",
        "PT6S, PT10S, PT2S",
        "PT3S, PT10S, PT0.1S",
        "PT3S, PT3S, PT1S",
        "PT3S, PT1S, PT1S",
        "PT6S, PT2S, PT2S",
        "PT0.3S, PT10S, PT0.1S",
        "PT0.3S, PT1M, PT0.1S",
        "PT3S, PT5M, PT1S",
        "PT30S, PT2S, PT0.05S",
        "PT15S, PT5S, PT5S",
        "PT1H, PT1M, PT10S",
        "PT0.003S, PT0.001S, PT0.001S",
    })
    void noCallOutlastsItsTimeOuts(Duration lease, Duration store, Duration command) {
        CoreSettings settings = CoreSettings.DEFAULTS.toBuilder()
                .lease(lease)
                .permits(PermitSettings.builder().storeTimeout(store).build())
                .commandTimeout(command)
                .build();
        for (Silence silence : Silence.values()) {
            for (OnStoreFailure how : List.of(OnStoreFailure.FAIL, OnStoreFailure.ALLOW, OnStoreFailure.LOCAL)) {
                for (boolean known : new boolean[] {true, false}) {
                    new Run(settings, store, silence, how, known).run();
                }
            }
        }
    }

    private static final class Run {

        private final String name;
        private final CoreSettings settings;
        private final Duration storeTimeout;
        private final Silence silence;
        private final OnStoreFailure how;
        private final Bench bench = new Bench();
        private final Party a;
        private final List<Expected> calls = new ArrayList<>();
        private final boolean known;

        /**
         * @param known whether the store has answered before
         */
        Run(CoreSettings settings, Duration storeTimeout, Silence silence, OnStoreFailure how, boolean known) {
            this.name = silence + ", " + how + (known ? "" : ", never answered");
            this.settings = settings;
            this.storeTimeout = storeTimeout;
            this.silence = silence;
            this.how = how;
            this.known = known;
            PermitSettings permits =
                    PermitSettings.builder().limit(10).onStoreFailure(how).build();
            if (!known) {
                silence();
            }
            bench.conditions.delay =
                    Math.min(bench.conditions.delay, settings.commandTimeout().toNanos() / 10);
            this.a = bench.member("a", Map.of(Bench.KEY, permits), settings, Observers.NONE);
        }

        void run() {
            long store = storeTimeout.toNanos();
            long command = settings.commandTimeout().toNanos();
            if (known) {
                a.engine.named(Bench.KEY);
                bench.run(settings.lease()); // the instance knows its share
                bench.time.run(command / 5); // the last claim for it is answered
                Asked first = a.acquire();
                bench.time.run(command);
                first.release();
                bench.time.run(command);
            }
            silence();
            // the longest that a call has to wait for the answer to a claim that is written at the end of its wait
            long attempt = silence == Silence.LOST ? command : Math.max(command, store);
            expect(PermitRequest.of(Bench.KEY), store);
            expect(PermitRequest.of("another"), store);
            expect(PermitRequest.of(Bench.KEY).withTimeout(storeTimeout.multipliedBy(7)), store);
            expect(PermitRequest.of(Bench.KEY).withTimeout(storeTimeout.dividedBy(2)), store / 2);
            expect(PermitRequest.of("yet another").withoutWaiting(), attempt);
            bench.time.run(store / 3);
            expect(PermitRequest.of(Bench.KEY), store);
            expect(PermitRequest.of("one more").withTimeout(storeTimeout.multipliedBy(7)), store);
            long left = store + store / 3 + command;
            while (left > 0 && calls.stream().anyMatch(call -> call.asked.isWaiting())) {
                bench.time.run(Math.max(1, command / 10));
                left -= Math.max(1, command / 10);
                calls.forEach(this::check);
            }
            calls.forEach(this::checkEnd);
            Asked later = ask(PermitRequest.of(Bench.KEY));
            bench.time.run(1);
            assertThat(later.isWaiting())
                    .as("%s: a call once the silence is known", name)
                    .isFalse();
        }

        private Asked ask(PermitRequest request) {
            return new Asked(a.engine.named(Bench.KEY).acquireAsync(request));
        }

        private void expect(PermitRequest request, long within) {
            calls.add(new Expected(ask(request), request, bench.time.now() + within));
        }

        private void check(Expected call) {
            // a look at the clock that finds a claim unanswered may come a twentieth of the command time-out later
            long slack = settings.commandTimeout().toNanos() / 10;
            assertThat(call.asked.isWaiting() && bench.time.now() > call.until + slack)
                    .as(
                            "%s: %s waits for %s longer than it has to",
                            name, call.request, Duration.ofNanos(bench.time.now() - call.until))
                    .isFalse();
        }

        private void checkEnd(Expected call) {
            check(call);
            boolean waited = call.request.block() && call.request.timeout() == null;
            if (how == OnStoreFailure.ALLOW && waited) {
                assertThat(call.asked.holds()).as("%s: %s", name, call.request).isTrue();
            } else if (how == OnStoreFailure.FAIL && waited) {
                assertThat(call.asked.failure()).isInstanceOf(PermitBackendException.class);
            }
        }

        private void silence() {
            long late = settings.commandTimeout().toNanos() * 9 / 10;
            bench.conditions.claimsLost = silence != Silence.UNWRITTEN;
            bench.conditions.writing = switch (silence) {
                case LOST -> sequence -> 0;
                case UNWRITTEN -> sequence -> Weather.LOST;
                case WRITTEN_LATE -> sequence -> late;
                case IN_TURN -> sequence -> sequence % 2 == 0 ? 0 : Weather.LOST;
            };
        }
    }

    private record Expected(Asked asked, PermitRequest request, long until) {}
}
