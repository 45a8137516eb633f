package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.core.member.Observers;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Everything is bounded, and what is not used is removed. */
class BoundsTest {

    private static final int MANY = Boolean.getBoolean("tests.long") ? 100_000 : 10_000;

    private final Bench bench = new Bench();

    private static void assertRejected(Asked call, Reason reason) {
        assertThat(call.failure())
                .isInstanceOfSatisfying(
                        PermitRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(reason));
    }

    private static Asked acquire(Party party, String key) {
        return new Asked(party.engine.named(Bench.KEY).acquireAsync(PermitRequest.of(key)));
    }

    @Test
    void aFullLineRefuses() {
        Party a = bench.member("a", 1, Bench.bounded(3, 10));
        a.hold();
        List<Asked> waiting = List.of(a.acquire(), a.acquire(), a.acquire());
        assertRejected(a.acquire(), Reason.QUEUE_FULL);
        assertRejected(a.tryAcquire(), Reason.QUEUE_FULL);
        waiting.get(1).future.cancel(false);
        assertThat(a.acquire().isWaiting()).isTrue();
    }

    @Test
    void callsOnTheirWayToFreePermitsDoNotFillTheQueue() {
        Party a = bench.member("a", 100, Bench.bounded(5, 10));
        List<Asked> calls = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            calls.add(i % 2 == 0 ? a.acquire() : a.tryAcquire());
        }
        bench.runMillis(5);
        assertThat(calls).allMatch(Asked::holds);
    }

    @Test
    void callsBeyondTheFreePermitsFillTheQueueBeforeTheStoreHasAnswered() {
        Party a = bench.member("a", 10, Bench.bounded(5, 10));
        for (int i = 0; i < 15; i++) {
            assertThat(a.acquire().isWaiting()).isTrue();
        }
        assertRejected(a.acquire(), Reason.QUEUE_FULL);
    }

    @Test
    void callsThatAnAnswerShowsToWaitFillTheQueue() {
        Party b = bench.member("b", 10);
        for (int i = 0; i < 10; i++) {
            b.hold();
        }
        Party a = bench.member("a", 10, Bench.bounded(5, 10));
        List<Asked> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waiting.add(a.acquire());
        }
        bench.runMillis(2);
        assertRejected(a.acquire(), Reason.QUEUE_FULL);
        waiting.get(2).future.cancel(false);
        assertThat(a.acquire().isWaiting()).isTrue();
    }

    @Test
    void callsFillTheQueueWhileClaimsFail() {
        Party a = bench.member("a", 100, Bench.bounded(5, 10));
        bench.conditions.refusing = true;
        for (int i = 0; i < 5; i++) {
            a.acquire();
        }
        bench.runMillis(2);
        assertRejected(a.acquire(), Reason.QUEUE_FULL);
    }

    @Test
    void eachNameHasItsOwnBound() {
        PermitSettings strict = PermitSettings.builder().limit(1).maxWaiting(2).build();
        PermitSettings patient = PermitSettings.builder().limit(1).maxWaiting(4).build();
        Map<String, PermitSettings> both = Map.of(Bench.KEY, strict, "patient", patient);
        Party a = bench.member("a", both, CoreSettings.DEFAULTS, Observers.NONE);
        a.hold();
        a.acquire();
        a.acquire();
        assertRejected(a.acquire(), Reason.QUEUE_FULL);
        for (int i = 0; i < 2; i++) {
            assertThat(new Asked(a.engine.named("patient").acquireAsync(PermitRequest.of(Bench.KEY))).isWaiting())
                    .isTrue();
        }
        Asked tooMany = new Asked(a.engine.named("patient").acquireAsync(PermitRequest.of(Bench.KEY)));
        assertRejected(tooMany, Reason.QUEUE_FULL);
        assertThat(tooMany.failure()).hasMessageContaining("distributed-permit.permits.patient.max-waiting");
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, patient.orElse(strict), "patient", strict));
        assertRejected(a.acquire(), Reason.QUEUE_FULL);
        a.engine.changeSettings(
                PermitSettings.NONE,
                Map.of(Bench.KEY, PermitSettings.builder().maxWaiting(9).build().orElse(strict), "patient", strict));
        assertThat(a.acquire().isWaiting()).isTrue();
    }

    @Test
    void tooManyKeysAreRefusedThroughTheFuture() {
        Party a = bench.member("a", 1, Bench.bounded(3, 2));
        acquire(a, "one");
        acquire(a, "two");
        assertRejected(acquire(a, "three"), Reason.TOO_MANY_KEYS);
        assertThat(Peek.permit(a.engine, Bench.KEY).counts.waiters()).isEqualTo(2);
        bench.runMillis(2);
        assertThat(Peek.permit(a.engine, Bench.KEY).counts.waiters()).isZero();
    }

    @Test
    void manyKeysUsedOnceLeaveNothing() {
        Party a = bench.member("a", 1);
        List<WeakReference<Object>> permits = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            Asked call = acquire(a, "key-" + i);
            bench.runMillis(1);
            permits.add(new WeakReference<>(call.permit()));
            call.release();
        }
        bench.run(Duration.ofSeconds(5));
        assertThat(a.engine.keys()).isZero();
        assertThat(bench.time.pending()).isZero();
        a.link.claims.clear();
        assertThatAllAreCollected(permits);
    }

    @Test
    void manyKeysUsedOnceLeaveNothingEvenIfTheStoreWasAway() {
        Party a = bench.member("a", 1);
        bench.conditions.refusing = true;
        int keys = MANY / 5;
        for (int i = 0; i < keys; i++) {
            Asked call = acquire(a, "key-" + i);
            call.future.cancel(false);
        }
        assertThat(a.engine.keys()).isEqualTo(keys);
        bench.run(Bench.LEASE.plusSeconds(10));
        assertThat(a.engine.keys()).isZero();
        bench.conditions.refusing = false;
        bench.run(Duration.ofSeconds(3)); // the store is asked until it answers
        assertThat(bench.time.pending()).isZero();
    }

    @Test
    void manyKeysHeldWhileTheStoreGoesAwayLeaveNothing() {
        Party a = bench.member("a", 1);
        List<Asked> calls = new ArrayList<>();
        int keys = MANY / 20;
        for (int i = 0; i < keys; i++) {
            calls.add(acquire(a, "key-" + i));
        }
        bench.runMillis(2);
        List<Permit> permits = calls.stream().map(Asked::permit).toList();
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE);
        assertThat(permits).noneMatch(Permit::isHeld);
        permits.forEach(Permit::release);
        bench.run(Bench.LEASE.plusSeconds(10));
        assertThat(a.engine.keys()).isZero();
        bench.conditions.claimsLost = false;
        bench.run(Duration.ofSeconds(3)); // the store is asked until it answers
        assertThat(bench.time.pending()).isZero();
    }

    private static void assertThatAllAreCollected(List<WeakReference<Object>> references) {
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> {
            System.gc();
            return references.stream().allMatch(r -> r.get() == null);
        });
    }
}
