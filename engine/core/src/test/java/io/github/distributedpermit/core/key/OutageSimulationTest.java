package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Random calls of instances before, during and after an outage in which calls may run without the store. Each seed is a run;
 * {@code docs/simulation.md} describes what is checked.
 */
class OutageSimulationTest {

    private static final String PAUSED = "paused";
    private static final Duration STEP = Duration.ofMillis(40);

    @Test
    void theInvariantsHoldAfterEveryStepOfEverySeed() {
        long seeds = Long.getLong("permit.simulation.seeds", 60);
        long first = Long.getLong("permit.simulation.first", 0);
        long withoutStore = LongStream.range(first, first + seeds)
                .map(seed -> new Run(seed).run())
                .sum();
        assertThat(withoutStore).as("calls that ran without the store").isGreaterThan(seeds);
    }

    private static final class Run {

        private final String name;
        private final SplittableRandom random;
        private final Bench bench = new Bench();
        private final OnStoreFailure how;
        private final int limit;
        private final boolean headStarts;
        private final int groups;
        private final List<Party> parties = new ArrayList<>();
        private final List<Call> calls = new ArrayList<>();
        private boolean pausedIsKnown;
        private long withoutStore;

        Run(long seed) {
            random = new SplittableRandom(seed);
            how = random.nextInt(4) == 0 ? OnStoreFailure.ALLOW : OnStoreFailure.LOCAL;
            limit = 1 + random.nextInt(6);
            int members = 1 + random.nextInt(5);
            headStarts = random.nextBoolean();
            groups = 1 + random.nextInt(3);
            name = "seed %d: %s, limit %d, %d instances".formatted(seed, how, limit, members);
            PermitSettings settings =
                    PermitSettings.builder().limit(limit).onStoreFailure(how).build();
            for (int i = 0; i < members; i++) {
                parties.add(bench.member(
                        "m" + i, Map.of(Bench.KEY, settings, PAUSED, settings), CoreSettings.DEFAULTS, Observers.NONE));
            }
        }

        long run() {
            parties.forEach(party -> party.engine.named(Bench.KEY));
            bench.network.server.override(PAUSED, OverrideLimit.of(0));
            bench.run(Bench.LEASE.multipliedBy(2)); // all know each other
            parties.forEach(party -> call(party, PAUSED));
            phase(Duration.ofSeconds(2), 0.1);
            pausedIsKnown = true;

            boolean refuses = random.nextBoolean();
            long outage = 12 + random.nextInt(30);
            boolean crash = parties.size() > 1 && random.nextInt(3) == 0;
            for (long second = 0; second < outage; second++) {
                // the store answers for a moment now and then, which is no end of the outage
                boolean away = second < 12 || second % 3 > 0 || random.nextInt(3) > 0;
                bench.conditions.refusing = away && refuses;
                bench.conditions.claimsLost = away && !refuses;
                phase(Duration.ofSeconds(1), 0.1);
                if (crash && second == 14) {
                    crash(parties.remove(random.nextInt(parties.size())));
                }
            }
            bench.conditions.refusing = false;
            bench.conditions.claimsLost = false;
            phase(Duration.ofSeconds(12), 0.1);
            for (int minute = 0; minute < 30 && !calls.isEmpty(); minute++) {
                phase(Duration.ofMinutes(1), 0);
            }
            phase(Duration.ofSeconds(1), 0);
            end();
            return withoutStore;
        }

        private void phase(Duration length, double often) {
            for (Duration at = Duration.ZERO; at.compareTo(length) < 0; at = at.plus(STEP)) {
                if (random.nextDouble() < often) {
                    call(parties.get(random.nextInt(parties.size())), random.nextInt(20) == 0 ? PAUSED : Bench.KEY);
                }
                bench.run(STEP);
                calls.removeIf(this::ended);
                check();
            }
        }

        private void call(Party party, String key) {
            PermitRequest request = PermitRequest.of(key);
            int kind = random.nextInt(5);
            if (kind == 0) {
                request = request.withoutWaiting();
            } else if (kind < 3) {
                request = request.withTimeout(Duration.ofMillis(1 + random.nextInt(20_000)));
            } else if (key.equals(PAUSED)) {
                request = request.withTimeout(Duration.ofSeconds(25));
            }
            if (limit > 1 && random.nextInt(6) == 0) {
                request = request.withPermits(1 + random.nextInt(limit));
            }
            Duration headStart = Duration.ofMillis(headStarts && random.nextInt(4) == 0 ? random.nextInt(30_000) : 0);
            request = request.toBuilder()
                    .headStart(headStart)
                    .fairBy(groups > 1 ? "group " + random.nextInt(groups) : null)
                    .build();
            Asked asked = new Asked(party.engine.named(key).acquireAsync(request));
            long hold = Duration.ofMillis(20L + random.nextInt(random.nextInt(10) == 0 ? 20_000 : 1_500))
                    .toNanos();
            long now = bench.time.now();
            long queuedAt = request.block() ? now - headStart.toNanos() : now;
            calls.add(new Call(party, request, asked, hold, random.nextInt(8) == 0, now, queuedAt));
        }

        /** Releases, cancels and removes calls that are over. */
        private boolean ended(Call call) {
            Asked asked = call.asked;
            long now = bench.time.now();
            if (asked.isWaiting()) {
                if (call.cancels && now - call.since > call.hold) {
                    asked.future.cancel(false);
                    return true;
                }
                return false;
            }
            if (asked.failure() != null) {
                return true;
            }
            if (call.grantedAt < 0) {
                call.grantedAt = now;
                if (call.runsWithoutStore()) {
                    withoutStore++;
                }
                for (Call other : calls) {
                    boolean same = other != call
                            && other.grantedAt >= 0
                            && other.key.equals(call.key)
                            && !call.runsWithoutStore()
                            && other.asked
                                    .permit()
                                    .token()
                                    .equals(asked.permit().token());
                    assertThat(same).as("%s: a token was given twice", name).isFalse();
                    assertThat(call.hasPassed(other, now - STEP.toNanos()))
                            .as("%s: %s was served before %s", name, call.request, other.request)
                            .isFalse();
                }
            }
            if (now - call.grantedAt >= call.hold) {
                asked.release();
                return true;
            }
            return false;
        }

        private void crash(Party party) {
            party.process.kill();
            calls.removeIf(call -> call.party == party);
        }

        private void check() {
            int shares = 0;
            for (Call call : calls) {
                if (call.grantedAt >= 0 && call.runsWithoutStore()) {
                    if (call.key.equals(PAUSED) && pausedIsKnown) {
                        throw new AssertionError(name + ": a call of a paused key runs");
                    }
                    shares += call.weight;
                }
            }
            if (how == OnStoreFailure.LOCAL && shares > limit) {
                throw new AssertionError(name + ": " + shares + " permits of shares are in use");
            }
            if (bench.used() > limit) {
                throw new AssertionError(name + ": the store has " + bench.used() + " permits in use");
            }
        }

        private void end() {
            assertThat(calls).as("%s: calls that do not end", name).isEmpty();
            for (Party party : parties) {
                assertThat(party.engine.status().isBypassed()).as(name).isFalse();
                assertThat(party.engine.status().isAnswering()).as(name).isTrue();
                assertThat(party.engine.gauges(Bench.KEY).orElseThrow().withoutStore())
                        .as(name)
                        .isZero();
                assertThat(party.engine.gauges(Bench.KEY).orElseThrow().holders())
                        .as(name)
                        .isZero();
            }
            List<Asked> all = new ArrayList<>();
            Party party = parties.get(random.nextInt(parties.size()));
            for (int i = 0; i < limit; i++) {
                Asked one = party.tryAcquire();
                bench.runMillis(20);
                assertThat(one.holds()).as("%s: permit %d is lost", name, i + 1).isTrue();
                all.add(one);
            }
            Asked oneMore = party.tryAcquire();
            bench.runMillis(20);
            assertThat(oneMore.holds())
                    .as("%s: a permit beyond the limit", name)
                    .isFalse();
            all.forEach(Asked::release);
        }
    }

    private static final class Call {

        final Party party;
        final PermitRequest request;
        final String key;
        final Asked asked;
        final int weight;
        final long hold;
        final boolean cancels;
        final long since;
        final long queuedAt;
        long grantedAt = -1;

        Call(Party party, PermitRequest request, Asked asked, long hold, boolean cancels, long since, long queuedAt) {
            this.party = party;
            this.request = request;
            this.key = request.key();
            this.asked = asked;
            this.weight = request.permits();
            this.hold = hold;
            this.cancels = cancels;
            this.since = since;
            this.queuedAt = queuedAt;
        }

        /** Whether the other one is of the same instance and group, was there by this time, comes before this one and still waits. */
        boolean hasPassed(Call other, long by) {
            return other.party == party
                    && other.key.equals(key)
                    && Objects.equals(other.request.fairBy(), request.fairBy())
                    && other.request.block()
                    && other.asked.isWaiting()
                    && other.since < by
                    && other.queuedAt < queuedAt;
        }

        boolean runsWithoutStore() {
            return asked.permit().token().version() == 0;
        }
    }
}
