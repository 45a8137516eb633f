package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitContext;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.Logged;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls that run without the store while it does not answer. */
class WithoutStoreTest {

    private static final Duration STORE = Bench.STORE_TIMEOUT;
    private static final Duration STEADY = Bench.COMMAND;
    private static final Duration MOMENT = Duration.ofMillis(3);

    private final Bench bench = new Bench();

    private static PermitSettings settings(int limit, OnStoreFailure onStoreFailure) {
        return PermitSettings.builder()
                .limit(limit)
                .onStoreFailure(onStoreFailure)
                .build();
    }

    private Party member(String id, int limit, OnStoreFailure onStoreFailure) {
        return member(id, Map.of(Bench.KEY, settings(limit, onStoreFailure)));
    }

    private Party member(String id, Map<String, PermitSettings> named) {
        return bench.member(id, named, CoreSettings.DEFAULTS, Observers.NONE);
    }

    private Party local(String id, int limit) {
        return member(id, limit, OnStoreFailure.LOCAL);
    }

    private Party allowing(String id, int limit) {
        return member(id, limit, OnStoreFailure.ALLOW);
    }

    /** Has the parties use their keys and learn of each other. */
    private void settle(Party... parties) {
        for (Party party : parties) {
            party.engine.named(Bench.KEY);
        }
        bench.run(Bench.LEASE.multipliedBy(2));
    }

    /** The store falls silent, and calls have noticed for long enough. */
    private void outage(Party... parties) {
        bench.conditions.claimsLost = true;
        List<Asked> calls = new ArrayList<>();
        for (Party party : parties) {
            calls.add(party.acquireOf("probe-" + party.process.id, STORE.multipliedBy(10)));
        }
        bench.run(STORE.plusMillis(10));
        calls.forEach(call -> call.future.cancel(false));
        release(calls);
    }

    private void storeReturns() {
        bench.conditions.claimsLost = false;
        bench.conditions.refusing = false;
    }

    private void untilUsedAgain() {
        storeReturns();
        bench.run(STEADY.plusSeconds(4));
    }

    private static List<String> logged(Runnable task) {
        try (Logged log = new Logged("io.github.distributedpermit.core.store.StoreLog")) {
            task.run();
            return log.texts().stream()
                    .filter(line -> line.contains(" run without it") || line.contains("used again"))
                    .toList();
        }
    }

    private static void assertStoreFailed(Asked call) {
        assertThat(call.failure()).isInstanceOf(PermitBackendException.class);
    }

    private static void assertRejected(Asked call, Reason reason) {
        assertThat(call.failure())
                .isInstanceOfSatisfying(
                        PermitRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(reason));
    }

    private static void release(List<Asked> calls) {
        calls.stream().filter(Asked::holds).forEach(Asked::release);
    }

    private static List<Asked> tries(Party party, int count) {
        return IntStream.range(0, count).mapToObj(i -> party.tryAcquire()).toList();
    }

    private static long held(List<Asked> calls) {
        return calls.stream().filter(Asked::holds).count();
    }

    private void assertNothingIsLeft(Party party) {
        bench.run(Duration.ofSeconds(40));
        bench.network.server.refresh(Bench.KEY);
        assertThat(bench.used()).isZero();
        assertThat(party.engine.keys()).isZero();
        assertThat(party.engine.gauges(Bench.KEY).orElseThrow().holders()).isZero();
        assertThat(party.engine.gauges(Bench.KEY).orElseThrow().withoutStore()).isZero();
    }

    // ---- when calls run without the store

    @ParameterizedTest
    @EnumSource(
            value = OnStoreFailure.class,
            names = {"ALLOW", "LOCAL"})
    void callsFailUntilTheStoreTimeOutAndRunWithoutTheStoreThen(OnStoreFailure how) {
        Party a = member("a", 2, how);
        settle(a);
        bench.conditions.claimsLost = true;
        Asked patient = a.acquire();
        Asked impatient = a.acquire(Duration.ofSeconds(3));
        Asked attempt = a.tryAcquire();
        bench.run(Duration.ofSeconds(9));
        assertThat(patient.isWaiting()).isTrue();
        assertStoreFailed(impatient);
        assertStoreFailed(attempt);
        bench.run(Duration.ofMillis(1_001));
        assertThat(patient.holds()).isTrue();
        assertThat(patient.permit().token().version()).isZero();
        Asked next = a.tryAcquire();
        assertThat(next.holds()).isTrue();
        assertThat(next.permit().token()).isNotEqualTo(patient.permit().token());
        assertThat(a.engine.keysInUse(Bench.KEY)).containsExactly(Bench.KEY);
        assertThat(a.engine.gauges(Bench.KEY).orElseThrow().holders()).isEqualTo(2);
        assertThat(a.engine.gauges(Bench.KEY).orElseThrow().withoutStore()).isEqualTo(2);
        patient.release();
        next.release();
        untilUsedAgain();
        assertNothingIsLeft(a);
    }

    @Test
    void aCallThatNeedsTheStoreFailsBesideOthersOfItsKey() {
        Party a = member(
                "a", Map.of(Bench.KEY, settings(2, OnStoreFailure.LOCAL), "strict", settings(2, OnStoreFailure.FAIL)));
        settle(a);
        outage(a);
        Asked first = a.acquire();
        Asked second = a.acquire();
        Asked third = a.acquire();
        Asked strict = new Asked(a.engine.named("strict").acquireAsync(PermitRequest.of(Bench.KEY)));
        bench.run(MOMENT);
        assertThat(first.holds() && second.holds() && third.isWaiting()).isTrue();
        assertStoreFailed(strict);
        bench.run(Duration.ofMinutes(5));
        assertThat(third.isWaiting()).isTrue();
        first.release();
        assertThat(third.holds()).isTrue();
    }

    @Test
    void aRequestSaysOtherwiseThanTheSettingsOfItsName() {
        Party a = bench.member("a", 1);
        settle(a);
        outage(a);
        assertStoreFailed(a.tryAcquire());
        PermitRequest request = PermitRequest.builder(Bench.KEY)
                .onStoreFailure(OnStoreFailure.ALLOW)
                .build();
        assertThat(a.ask(request).holds()).isTrue();
        Party b = allowing("b", 1);
        settle(b);
        outage(b);
        Asked strict =
                b.ask(request.toBuilder().onStoreFailure(OnStoreFailure.FAIL).build());
        assertStoreFailed(strict);
    }

    @Test
    void ofTwoRequestsForOneKeyTheStricterBehaviourCounts() {
        PermitRequest allow =
                PermitRequest.builder("k").onStoreFailure(OnStoreFailure.ALLOW).build();
        PermitRequest local =
                allow.toBuilder().onStoreFailure(OnStoreFailure.LOCAL).build();
        PermitRequest fail =
                allow.toBuilder().onStoreFailure(OnStoreFailure.FAIL).build();
        PermitRequest open = PermitRequest.of("k");
        assertThat(allow.and(local).onStoreFailure()).isEqualTo(OnStoreFailure.LOCAL);
        assertThat(local.and(fail).onStoreFailure()).isEqualTo(OnStoreFailure.FAIL);
        assertThat(open.and(fail).onStoreFailure()).isEqualTo(OnStoreFailure.FAIL);
        assertThat(allow.and(open).onStoreFailure()).isEqualTo(OnStoreFailure.DEFAULT);
        assertThat(allow.and(allow).onStoreFailure()).isEqualTo(OnStoreFailure.ALLOW);
    }

    @Test
    void aStoreThatRefusesPermanentlyIsNoOutage() {
        Party a = allowing("a", 1);
        settle(a);
        bench.network.failure = () -> PermitStoreException.permanent("wrong password", null);
        bench.conditions.refusing = true;
        for (int i = 0; i < 30; i++) {
            Asked call = a.acquire();
            bench.run(Duration.ofSeconds(1));
            assertStoreFailed(call);
        }
    }

    @Test
    void aStoreIsSlowUpToTheCommandTimeOut() {
        Party a = local("a", 1);
        settle(a);
        bench.conditions.delay = 900 * Weather.MILLI;
        Asked call = a.acquire();
        bench.run(Duration.ofSeconds(30));
        assertThat(call.permit().token().version()).isNotZero();
        Asked other = a.acquire();
        bench.run(Duration.ofSeconds(30));
        assertThat(other.isWaiting()).isTrue();
        call.release();
        bench.run(Duration.ofSeconds(30));
        assertThat(other.permit().token().version()).isNotZero();
        assertThat(a.engine.status().isBypassed()).isFalse();
        other.release();
        bench.run(Duration.ofSeconds(30));
        bench.conditions.delay = 1_500 * Weather.MILLI; // 3 s are no answer
        Asked third = a.acquire();
        bench.run(STORE.multipliedBy(2));
        assertThat(third.permit().token().version()).isZero();
    }

    @Test
    void anAnswerForAnotherKeyAfterTheOutageBeganDelaysTheCallAndDoesNotFailIt() {
        Party a = allowing("a", 1);
        settle(a);
        Asked other = a.acquireOf("other", Duration.ofHours(1));
        bench.time.run(Weather.MILLI / 2);
        bench.conditions.claimsLost = true;
        Asked waiting = a.acquire();
        bench.run(STORE);
        assertThat(other.holds()).isTrue();
        assertThat(waiting.isWaiting()).isTrue();
        Asked later = a.acquire();
        assertThat(later.isWaiting()).isTrue();
        bench.run(MOMENT);
        assertThat(waiting.holds() && later.holds()).isTrue();
    }

    @Test
    void aKeyThatAloneIsNotAnsweredFailsItsCalls() {
        Party a = local("a", 1);
        settle(a);
        a.link.lostKey = Bench.KEY;
        Asked call = a.acquire();
        for (int i = 0; i < 30; i++) {
            Asked other = a.acquireOf("other-" + i, Duration.ofSeconds(1));
            bench.run(Duration.ofSeconds(1));
            other.release();
        }
        assertStoreFailed(call);
        assertThat(a.engine.status().isBypassed()).isFalse();
    }

    @Test
    void timeInWhichTheProcessIsStoppedIsNoOutage() {
        Party a = local("a", 1);
        settle(a);
        a.hold().release();
        while (!a.lastClaim().key().equals("distributed-permit.instances")) {
            bench.time.run(Weather.MILLI / 10);
        }
        a.process.stop(Duration.ofMinutes(1).toNanos());
        bench.run(Duration.ofMinutes(1));
        Asked call = a.acquire();
        bench.run(MOMENT);
        assertThat(a.engine.status().isBypassed()).isFalse();
        assertThat(call.permit().token().version()).isNotZero();
    }

    // ---- when the store is used again

    @Test
    void singleAnswersDoNotEndTheOutage() {
        Party a = allowing("a", 1);
        settle(a);
        List<String> lines = logged(() -> {
            outage(a);
            for (int i = 0; i < 20; i++) {
                Asked call = a.tryAcquire();
                assertThat(call.holds()).isTrue();
                assertThat(call.permit().token().version()).isZero();
                call.release();
                bench.conditions.claimsLost = i % 2 != 0;
                bench.run(STEADY.minusMillis(i % 2 == 0 ? 300 : 0));
            }
        });
        assertThat(lines).hasSize(1);
    }

    @Test
    void aStoreThatIsSlowAfterTheOutageIsNotUsedAgain() {
        Party a = allowing("a", 1);
        settle(a);
        outage(a);
        assertThat(a.tryAcquire().holds()).isTrue();
        storeReturns();
        bench.conditions.delay = 1_500 * Weather.MILLI;
        bench.run(Duration.ofMinutes(2));
        assertThat(a.engine.status().isBypassed()).isTrue();
        bench.conditions.delay = Weather.MILLI / 2;
        bench.run(STEADY.plusSeconds(4));
        assertThat(a.engine.status().isBypassed()).isFalse();
    }

    @Test
    void itIsUsedAgainWithoutAnyCall() {
        Party a = allowing("a", 1);
        settle(a);
        outage(a);
        a.acquire().release();
        bench.run(Duration.ofMinutes(30));
        assertThat(a.engine.status().isBypassed()).isTrue();
        Asked late = a.tryAcquire();
        assertThat(late.holds()).isTrue(); // it need not find out about the outage again
        late.release();
        untilUsedAgain();
        assertThat(a.engine.status().isBypassed()).isFalse();
        Asked call = a.acquire();
        bench.run(MOMENT);
        assertThat(call.permit().token().version()).isNotZero();
        call.release();
        assertNothingIsLeft(a);
        assertThat(bench.time.pending()).isZero();
    }

    @ParameterizedTest
    @EnumSource(
            value = OnStoreFailure.class,
            names = {"FAIL", "ALLOW", "LOCAL"})
    void anInstanceWithoutCallsNoticesThatTheStoreAnswersAgain(OnStoreFailure how) {
        Party a = member("a", 2, how);
        settle(a);
        bench.conditions.claimsLost = true;
        a.acquire(Duration.ofSeconds(5));
        bench.run(Duration.ofMinutes(10));
        assertThat(a.engine.status().isAnswering()).isFalse();
        storeReturns();
        bench.run(STEADY.plusSeconds(1));
        assertThat(a.engine.status().isAnswering()).isTrue();
        bench.run(Duration.ofMinutes(1));
        long claims = a.claims();
        bench.run(Bench.LEASE);
        assertThat(a.claims() - claims)
                .as("only the claims that count the instances")
                .isEqualTo(how == OnStoreFailure.LOCAL ? 3 : 0);
        assertNothingIsLeft(a);
    }

    @Test
    void aClaimAfterTheOutageStatesNoCallThatRunsAsWaiting() {
        Party a = allowing("a", 2);
        settle(a);
        outage(a);
        List<Asked> running = tries(a, 6);
        assertThat(held(running)).isEqualTo(6);
        long before = a.claims();
        untilUsedAgain();
        assertThat(a.claimsAfter(before))
                .filteredOn(claim -> claim.key().equals(Bench.KEY))
                .isNotEmpty()
                .allSatisfy(
                        claim -> assertThat(claim.shown().waitingBeyondWanted()).isZero());
        release(running);
        assertNothingIsLeft(a);
    }

    @Test
    void aCallThatRunsIsRecordedWhenTheStoreIsUsedAgainBeforeOthersGetPermits() {
        Party a = local("a", 1);
        Party b = bench.member("b", 1);
        settle(a, b);
        outage(a);
        Asked running = a.acquire();
        assertThat(running.holds()).isTrue();
        Asked waiting = a.acquire();
        untilUsedAgain();
        assertThat(bench.used()).isEqualTo(1);
        assertThat(running.holds()).isTrue();
        assertThat(running.permit().token().version()).isZero();
        assertThat(waiting.isWaiting()).isTrue();
        Asked other = b.tryAcquire();
        bench.run(MOMENT);
        assertRejected(other, Reason.LIMIT_REACHED);
        assertThat(a.engine.gauges(Bench.KEY).orElseThrow().withoutStore()).isZero();
        bench.run(Duration.ofMinutes(1));
        assertThat(running.holds()).isTrue();
        assertThat(running.permit().release()).isTrue();
        bench.run(MOMENT);
        assertThat(waiting.holds()).isTrue();
        assertThat(waiting.permit().token().version()).isNotZero();
        waiting.release();
        assertNothingIsLeft(a);
    }

    @Test
    void failuresOfItsOwnClaimsDuringTheOutageEndNoCallAfterwards() {
        Party a = local("a", 1);
        settle(a);
        bench.conditions.claimsLost = true;
        Asked running = a.acquire();
        Asked waiting = a.acquire();
        bench.run(STORE.plusMillis(10));
        assertThat(running.holds()).isTrue();
        bench.run(Duration.ofMinutes(1));
        untilUsedAgain();
        assertThat(bench.used()).isEqualTo(1);
        assertThat(waiting.isWaiting()).isTrue();
        running.release();
        bench.run(MOMENT);
        assertThat(waiting.permit().token().version()).isNotZero();
        waiting.release();
        assertNothingIsLeft(a);
    }

    @Test
    void aRecordedCallLosesItsPermitLikeAnyOther() {
        Party a = local("a", 1);
        settle(a);
        outage(a);
        Permit running = a.acquire().permit();
        List<String> lost = new ArrayList<>();
        running.onLoss(() -> lost.add("lost"));
        untilUsedAgain();
        assertThat(bench.used()).isEqualTo(1);
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE.plusSeconds(1));
        assertThat(running.isHeld()).isFalse();
        assertThat(lost).hasSize(1);
        assertThat(running.release()).isFalse();
        untilUsedAgain();
        assertNothingIsLeft(a);
    }

    @Test
    void moreRunningCallsThanTheLimitAreRecordedAsThereIsRoom() {
        Party a = allowing("a", 2);
        settle(a);
        outage(a);
        List<Asked> running = tries(a, 5);
        assertThat(held(running)).isEqualTo(5);
        Asked waiting = a.acquire(Duration.ofHours(1));
        waiting.release();
        untilUsedAgain();
        assertThat(bench.used()).isEqualTo(2);
        Asked next = a.acquire();
        for (int i = 0; i < 4; i++) {
            assertThat(next.isWaiting()).isTrue();
            running.get(i).release();
            bench.run(MOMENT);
            assertThat(bench.used()).isLessThanOrEqualTo(2);
        }
        assertThat(next.holds()).isTrue();
        next.release();
        running.get(4).release();
        assertNothingIsLeft(a);
    }

    @Test
    void anotherOutageBeforeAllAreRecordedChangesNothingForThem() {
        Party a = allowing("a", 2);
        settle(a);
        outage(a);
        List<Asked> running = tries(a, 5);
        untilUsedAgain();
        assertThat(bench.used()).isEqualTo(2);
        outage(a);
        Asked more = a.tryAcquire();
        assertThat(more.holds()).isTrue();
        bench.run(Bench.LEASE);
        assertThat(held(running)).isEqualTo(3); // two were recorded, and those are lost
        untilUsedAgain();
        running.forEach(call -> call.permit().release());
        more.release();
        assertNothingIsLeft(a);
    }

    private List<Asked> threeOfWhichTwoAreRecorded(Party a) {
        settle(a);
        outage(a);
        List<Asked> running = tries(a, 3);
        untilUsedAgain();
        assertThat(bench.used()).isEqualTo(2);
        return running;
    }

    private void assertTheThirdIsRecordedWhenAnotherEnds(Party a, List<Asked> running) {
        storeReturns();
        bench.run(Duration.ofSeconds(5));
        running.get(0).release();
        bench.run(Duration.ofSeconds(5));
        assertThat(bench.used()).as("both calls that run are recorded").isEqualTo(2);
        running.get(1).release();
        running.get(2).release();
        assertNothingIsLeft(a);
    }

    /** As after a token that was renewed too late. */
    @Test
    void aCallThatRunsGoesOnAskingForItsPermitAfterAPermanentRefusal() {
        Party a = allowing("a", 2);
        List<Asked> running = threeOfWhichTwoAreRecorded(a);
        bench.network.failure = () -> PermitStoreException.permanent("wrong password", null);
        bench.conditions.refusing = true;
        bench.run(Bench.LEASE.dividedBy(2)); // of the permits that are recorded, which are renewed meanwhile
        assertTheThirdIsRecordedWhenAnotherEnds(a, running);
    }

    @Test
    void aCallThatRunsGoesOnAskingForItsPermitAfterAnOutageInWhichNoneWaited() {
        Party a = allowing("a", 2);
        List<Asked> running = threeOfWhichTwoAreRecorded(a);
        bench.conditions.claimsLost = true;
        bench.run(STORE.plusSeconds(1));
        assertTheThirdIsRecordedWhenAnotherEnds(a, running);
    }

    @Test
    void callsThatWaitWithoutTheStoreGetPermitsOfItAfterwards() {
        Party a = local("a", 2);
        settle(a);
        outage(a);
        List<Asked> calls = IntStream.range(0, 20).mapToObj(i -> a.acquire()).toList();
        assertThat(held(calls)).isEqualTo(2);
        untilUsedAgain();
        for (int i = 0; i < 20; i++) {
            assertThat(calls.get(i).holds()).as("call " + i).isTrue();
            calls.get(i).release();
            bench.runMillis(10);
        }
        assertNothingIsLeft(a);
    }

    @Test
    void headStartsOrderTheCallsOfAnInstanceInTheOutageAndAfterIt() {
        Party a = local("a", 1);
        settle(a);
        outage(a);
        Asked running = a.acquire();
        Asked bulk = a.acquire();
        Asked urgent = a.ask(PermitRequest.builder(Bench.KEY)
                .headStart(Duration.ofSeconds(30))
                .build());
        Asked more = a.acquire();
        Asked mostUrgent = a.ask(PermitRequest.builder(Bench.KEY)
                .headStart(Duration.ofMinutes(1))
                .build());
        running.release();
        assertThat(mostUrgent.holds()).isTrue();
        assertThat(mostUrgent.permit().token().version()).isZero();
        untilUsedAgain();
        Asked last = mostUrgent;
        for (Asked next : List.of(urgent, bulk, more)) {
            last.release();
            bench.runMillis(50);
            assertThat(next.holds()).isTrue();
            last = next;
        }
        last.release();
        assertNothingIsLeft(a);
    }

    @Test
    void callsThatRunAtOnceWaitForNoneThatWaitsForAShare() {
        Party a = local("a", 1);
        settle(a);
        outage(a);
        Asked running = a.acquire();
        Asked waiting = a.acquire();
        PermitRequest.Builder atOnce = PermitRequest.builder(Bench.KEY).onStoreFailure(OnStoreFailure.ALLOW);
        Asked queued = a.ask(atOnce.build());
        Asked attempt = a.ask(atOnce.build().withoutWaiting());
        assertThat(waiting.isWaiting()).isTrue();
        assertThat(queued.holds()).isTrue();
        assertThat(attempt.holds()).isTrue();
        running.release();
        queued.release();
        assertThat(waiting.isWaiting()).as("the share is in use").isTrue();
        attempt.release();
        assertThat(waiting.holds()).isTrue();
        waiting.release();
        untilUsedAgain();
        assertNothingIsLeft(a);
    }

    @Test
    void groupsShareInTheOutageAndAfterIt() {
        Party a = local("a", 3);
        settle(a);
        outage(a);
        List<Asked> calls = "AAAAABAB"
                .chars()
                .mapToObj(group -> a.ask(PermitRequest.builder(Bench.KEY)
                        .fairBy(Character.toString(group))
                        .build()))
                .toList();
        calls.get(0).release();
        assertThat(held(calls)).isEqualTo(3);
        assertThat(calls.get(5).holds()).isTrue();
        assertThat(calls.get(5).permit().token().version()).isZero();
        untilUsedAgain();
        for (int[] endAndNext : new int[][] {{1, 3}, {2, 7}, {3, 4}, {4, 6}}) {
            calls.get(endAndNext[0]).release();
            bench.runMillis(50);
            assertThat(calls.get(endAndNext[1]).holds())
                    .as("call %d", endAndNext[1])
                    .isTrue();
        }
        release(calls);
        assertNothingIsLeft(a);
    }

    @Test
    void weightsOfGroupsAndHeadStartsInThemCountInTheOutageToo() {
        List<Integer> overtaken = new ArrayList<>();
        Party a = bench.member(
                "a",
                Map.of(Bench.KEY, settings(4, OnStoreFailure.LOCAL)),
                CoreSettings.DEFAULTS,
                Bench.observing(new PermitObserver() {
                    @Override
                    public void overtook(PermitCall call, int calls) {
                        overtaken.add(calls);
                    }
                }));
        settle(a);
        outage(a);
        PermitRequest light = PermitRequest.builder(Bench.KEY).fairBy("light").build();
        PermitRequest heavy =
                PermitRequest.builder(Bench.KEY).fairBy("heavy").fairWeight(3).build();
        List<Asked> ofLight = IntStream.range(0, 8).mapToObj(i -> a.ask(light)).toList();
        List<Asked> ofHeavy = IntStream.range(0, 8).mapToObj(i -> a.ask(heavy)).toList();
        Asked urgent = a.ask(heavy.toBuilder().headStart(Duration.ofSeconds(30)).build());
        ofLight.get(0).release();
        assertThat(urgent.holds()).isTrue();
        assertThat(overtaken).containsExactly(12);
        for (int i = 1; i < 3; i++) {
            ofLight.get(i).release();
        }
        assertThat(held(ofLight)).isEqualTo(1);
        assertThat(held(ofHeavy)).isEqualTo(2);
        urgent.release();
        assertThat(held(ofHeavy)).isEqualTo(3);
        ofLight.get(3).release();
        assertThat(ofLight.get(4).holds()).isTrue();
        for (int i = 0; i < 8; i++) {
            release(ofLight);
            release(ofHeavy);
        }
        untilUsedAgain();
        assertNothingIsLeft(a);
    }

    @Test
    void aCallThatArrivesInAnyMomentOfTheEndGetsItsPermit() {
        Party a = local("a", 1);
        settle(a);
        outage(a);
        Asked running = a.acquire();
        storeReturns();
        List<Asked> calls = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            calls.add(a.acquire());
            bench.runMillis(10);
        }
        running.release();
        for (Asked call : calls) {
            bench.run(MOMENT);
            assertThat(call.holds()).isTrue();
            call.release();
        }
        assertNothingIsLeft(a);
    }

    // ---- the share of this instance

    @Test
    void theSharesOfAllInstancesTogetherAreTheLimit() {
        Party[] all = {local("a", 10), local("b", 10), local("c", 10)};
        settle(all);
        outage(all);
        List<Long> shares = new ArrayList<>();
        for (Party each : all) {
            shares.add(held(tries(each, 10)));
        }
        assertThat(shares).containsExactlyInAnyOrder(4L, 3L, 3L);
    }

    /** The records of all have expired meanwhile, so that it shows only those who were quicker. */
    @Test
    void storeThatAnswersForMomentsWithinAnOutageChangesNoShare() {
        Party[] all = {local("a", 3), local("b", 3), local("c", 3)};
        for (Party each : all) {
            each.engine.named(Bench.KEY);
            bench.run(Duration.ofMillis(1_700)); // each looks at another time
        }
        settle(all);
        outage(all);
        bench.run(Bench.LEASE);
        for (int i = 0; i < 10; i++) {
            storeReturns();
            bench.run(STEADY.minusMillis(300));
            bench.conditions.claimsLost = true;
            bench.run(STEADY.minusMillis(300));

            List<Asked> held = new ArrayList<>();
            for (Party each : all) {
                held.addAll(tries(each, 3).stream().filter(Asked::holds).toList());
            }
            assertThat(held).as("after moment %d", i).hasSizeLessThanOrEqualTo(3);
            release(held);
        }
    }

    @Test
    void ofMoreInstancesThanPermitsOnlySomeHaveAShare() {
        Party[] all = {local("a", 2), local("b", 2), local("c", 2), local("d", 2)};
        settle(all);
        outage(all);
        int granted = 0;
        for (Party each : all) {
            Asked call = each.tryAcquire();
            if (call.holds()) {
                granted++;
                assertRejected(each.tryAcquire(), Reason.LIMIT_REACHED);
            } else {
                assertStoreFailed(call);
                assertThat(call.failure()).hasMessageContaining("no share of the limit of 2");
            }
        }
        assertThat(granted).isEqualTo(2);
    }

    @Test
    void anInstanceThatNeverReachedTheStoreHasNoShare() {
        bench.conditions.claimsLost = true;
        Party a = local("a", 5);
        Party b = allowing("b", 5);
        outage(a, b);
        Asked call = a.acquire();
        assertStoreFailed(call);
        assertThat(call.failure()).hasMessageContaining("never reached the store");
        assertThat(b.acquire().holds()).isTrue();
        untilUsedAgain();
        Asked later = a.acquire();
        bench.run(MOMENT);
        assertThat(later.holds()).isTrue();
    }

    @Test
    void anInstanceThatClosesLeavesItsShareToTheOthers() {
        Party a = local("a", 10);
        Party b = local("b", 10);
        settle(a, b);
        b.engine.close();
        bench.run(Bench.LEASE.multipliedBy(2));
        assertThat(bench.network.server.find("distributed-permit.instances"))
                .isNotNull()
                .extracting(SimTable::used)
                .isEqualTo(1);
        outage(a);
        assertThat(held(tries(a, 20))).isEqualTo(10);
        a.engine.close();
        long claims = a.claims();
        bench.run(Duration.ofMinutes(5));
        assertThat(a.claims()).isEqualTo(claims);
        assertThat(bench.time.pending()).isZero();
    }

    @Test
    void anInstanceWithoutSuchPermitsIsNotCounted() {
        Party a = local("a", 4);
        Party b = allowing("b", 4);
        Party c = bench.member("c", 4);
        settle(a, b, c);
        outage(a);
        assertThat(held(tries(a, 9))).isEqualTo(4);
        assertThat(c.claims()).isZero();
        assertThat(b.claims()).isZero();
    }

    @Test
    void twoNamesOfOneKeyShareOneShare() {
        Party a = member(
                "a",
                Map.of(
                        Bench.KEY,
                        settings(3, OnStoreFailure.LOCAL),
                        "other",
                        settings(3, OnStoreFailure.LOCAL),
                        "third",
                        settings(3, OnStoreFailure.ALLOW)));
        settle(a);
        outage(a);
        assertThat(a.acquire().holds()).isTrue();
        PermitRequest without = PermitRequest.of(Bench.KEY).withoutWaiting();
        Asked other = new Asked(a.engine.named("other").acquireAsync(without));
        assertThat(other.holds()).isTrue();
        Asked third = new Asked(a.engine.named("third").acquireAsync(without));
        assertThat(third.holds()).isTrue();
        Asked fourth = new Asked(a.engine.named("other").acquireAsync(without));
        assertRejected(fourth, Reason.LIMIT_REACHED);
        Asked waits = a.acquire();
        assertThat(waits.isWaiting()).isTrue();
        third.release();
        assertThat(waits.holds()).isTrue();
    }

    @Test
    void permitsOfTheStoreCountAsPartOfTheShareAlsoIfTheyAreLost() {
        Party a = local("a", 1);
        settle(a);
        Permit held = a.hold();
        outage(a);
        Asked waiting = a.acquire();
        bench.run(MOMENT);
        assertThat(waiting.isWaiting()).isTrue();
        assertThat(held.isHeld()).isTrue();
        bench.run(Duration.ofMinutes(10));
        assertThat(held.isHeld()).isFalse();
        assertThat(waiting.isWaiting()).isTrue();
        waiting.future.cancel(false);
        bench.run(Duration.ofMinutes(10));
        Asked next = a.acquire();
        assertThat(next.isWaiting()).isTrue();
        assertThat(held.release()).isFalse();
        assertThat(next.holds()).isTrue();
        next.release();
        untilUsedAgain();
        assertNothingIsLeft(a);
    }

    @Test
    void aPermitThatIsLostWithoutAnyOtherCallStillCounts() {
        Party a = local("a", 1);
        settle(a);
        Permit held = a.hold();
        bench.conditions.claimsLost = true;
        bench.run(Duration.ofMinutes(10));
        assertThat(held.isHeld()).isFalse();
        Asked next = a.acquire();
        bench.run(STORE.plusSeconds(1));
        assertThat(next.isWaiting()).isTrue();
        held.release();
        assertThat(next.holds()).isTrue();
    }

    @Test
    void aCallThatAsksForMoreThanTheShareFails() {
        Party a = local("a", 4);
        Party b = local("b", 4);
        settle(a, b);
        outage(a);
        Asked small = a.acquire(2);
        assertThat(small.holds()).isTrue();
        Asked big = a.acquire(3);
        assertStoreFailed(big);
        assertThat(big.failure()).hasMessageContaining("asks for 3 permits, but the share of this instance is 2 of 4");
        Asked fits = a.acquire(2);
        Asked behind = a.acquire();
        assertThat(fits.isWaiting() && behind.isWaiting()).isTrue();
        small.release();
        assertThat(fits.holds()).isTrue();
        assertThat(behind.isWaiting()).isTrue();
        fits.release();
        assertThat(behind.holds()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = OnStoreFailure.class,
            names = {"ALLOW", "LOCAL"})
    void aPausedKeyStaysPaused(OnStoreFailure how) {
        Party a = member("a", 3, how);
        settle(a);
        bench.override(0);
        Asked paused = a.acquire(Duration.ofSeconds(5));
        bench.run(Duration.ofMinutes(2));
        assertRejected(paused, Reason.TIMED_OUT);
        assertThat(a.engine.keys()).isZero();
        outage(a);
        Asked call = a.acquire();
        assertStoreFailed(call);
        assertThat(call.failure()).hasMessageContaining("paused");
        storeReturns();
        bench.liftOverride();
        untilUsedAgain();
        Asked later = a.acquire();
        bench.run(MOMENT);
        assertThat(later.holds()).isTrue();
        later.release();
        outage(a);
        assertThat(a.acquire().holds()).isTrue();
    }

    @Test
    void aPauseThatWasSetHereIsKeptThoughNoCallUsedTheKey() {
        Party a = member("a", 3, OnStoreFailure.ALLOW);
        settle(a);
        bench.run(Duration.ofMinutes(2));
        a.engine.override(Bench.KEY, OverrideLimit.of(0));
        bench.run(MOMENT);
        assertThat(a.engine.keys()).isZero();
        outage(a);
        assertThat(a.acquire().failure()).hasMessageContaining("paused");
    }

    @Test
    void aPauseThatWasLiftedHereIsForgottenThoughNoCallUsedTheKeySince() {
        Party a = member("a", 3, OnStoreFailure.ALLOW);
        settle(a);
        bench.override(0);
        Asked paused = a.acquire(Duration.ofSeconds(5));
        bench.run(Duration.ofMinutes(2));
        assertRejected(paused, Reason.TIMED_OUT);
        a.engine.override(Bench.KEY, OverrideLimit.empty());
        bench.run(MOMENT);
        assertThat(a.engine.keys()).isZero();
        outage(a);
        assertThat(a.acquire().holds()).isTrue();
    }

    @Test
    void theShareIsThatOfTheOperatorsLimit() {
        Party a = local("a", 10);
        settle(a);
        bench.override(3);
        a.hold().release();
        bench.run(Duration.ofMinutes(2));
        outage(a);
        assertThat(held(tries(a, 10))).isEqualTo(3);
    }

    // ---- changes while it lasts

    @Test
    void aChangedLimitChangesTheShare() {
        Party a = local("a", 2);
        settle(a);
        outage(a);
        List<Asked> calls = IntStream.range(0, 6).mapToObj(i -> a.acquire()).toList();
        assertThat(held(calls)).isEqualTo(2);
        a.engine.changeLimits(Map.of(Bench.KEY, 5));
        assertThat(held(calls)).isEqualTo(5);
        a.engine.changeLimits(Map.of(Bench.KEY, 1));
        assertThat(held(calls)).isEqualTo(5);
        calls.get(0).release();
        assertThat(calls.get(5).isWaiting()).isTrue();
        a.engine.changeLimits(Map.of(Bench.KEY, 1_000));
        assertThat(calls.get(5).holds()).isTrue();
    }

    @Test
    void theBehaviourChangesForCallsThatArriveLater() {
        Party a = member("a", 1, OnStoreFailure.FAIL);
        settle(a);
        outage(a);
        assertStoreFailed(a.acquire());
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, settings(1, OnStoreFailure.ALLOW)));
        Asked allowed = a.acquire();
        assertThat(allowed.holds()).isTrue();
        a.engine.changeSettings(PermitSettings.NONE, Map.of(Bench.KEY, settings(1, OnStoreFailure.FAIL)));
        assertStoreFailed(a.acquire());
        a.engine.changeSettings(
                PermitSettings.builder().onStoreFailure(OnStoreFailure.ALLOW).build(),
                Map.of(Bench.KEY, Bench.limit(1)));
        assertThat(a.acquire().holds()).isTrue();
        assertThat(a.engine.find(Bench.KEY).orElseThrow().onStoreFailure()).isEqualTo(OnStoreFailure.ALLOW);
    }

    @Test
    void aPatternAndANameWithoutLimitWork() {
        Party a = member(
                "a",
                Map.of(
                        Bench.KEY,
                        settings(1, OnStoreFailure.FAIL),
                        "tenant-*",
                        settings(1, OnStoreFailure.LOCAL),
                        "free",
                        PermitSettings.builder()
                                .limit(io.github.distributedpermit.PermitDefinition.UNLIMITED)
                                .onStoreFailure(OnStoreFailure.LOCAL)
                                .build()));
        a.engine.named("tenant-1");
        settle(a);
        outage(a);
        PermitRequest request = PermitRequest.of("k").withoutWaiting();
        assertThat(new Asked(a.engine.named("tenant-1").acquireAsync(request)).holds())
                .isTrue();
        assertRejected(new Asked(a.engine.named("tenant-2").acquireAsync(request)), Reason.LIMIT_REACHED);
        assertThat(new Asked(a.engine.named("tenant-2").acquireAsync(PermitRequest.of("l"))).holds())
                .isTrue();
        assertThat(new Asked(a.engine.named("free").acquireAsync(request)).holds())
                .isTrue();
    }

    // ---- calls of every kind

    @Test
    void aWaitEndsByTimeOutOrCancellation() {
        Party a = local("a", 1);
        settle(a);
        outage(a);
        Asked running = a.acquire();
        Asked impatient = a.acquire(Duration.ofSeconds(1));
        Asked cancelled = a.acquire();
        Asked patient = a.acquire();
        bench.run(Duration.ofSeconds(2));
        assertRejected(impatient, Reason.TIMED_OUT);
        cancelled.future.cancel(false);
        running.release();
        assertThat(patient.holds()).isTrue();
        patient.release();
        untilUsedAgain();
        assertNothingIsLeft(a);
    }

    @Test
    void blockingCallsGetTheirPermitsToo() throws InterruptedException {
        Party a = local("a", 2);
        settle(a);
        outage(a);
        Permit first = a.engine.named(Bench.KEY).acquire(Bench.KEY);
        Permit second = a.engine.named(Bench.KEY).acquireUninterruptibly(PermitRequest.of(Bench.KEY));
        assertThat(first.isHeld() && second.isHeld()).isTrue();
        assertThat(a.engine.named(Bench.KEY).tryAcquire(Bench.KEY)).isEmpty();
        first.close();
        assertThat(a.engine.named(Bench.KEY).tryAcquire(Bench.KEY)).isPresent();
    }

    @Test
    void aReentrantCallJoinsThePermitOfItsCaller() throws InterruptedException {
        Party a = local("a", 1);
        settle(a);
        outage(a);
        Permit outer = a.engine.named(Bench.KEY).acquire(Bench.KEY);
        try (PermitContext.Scope scope = PermitContext.open()) {
            scope.add(outer);
            Permit inner = a.engine
                    .named(Bench.KEY)
                    .acquire(PermitRequest.builder(Bench.KEY).reentrant().build());
            assertThat(inner.token()).isEqualTo(outer.token());
            inner.release();
            assertThat(outer.isHeld()).isTrue();
            assertThat(inner.release()).isFalse();
        }
        assertThat(outer.release()).isTrue();
        assertThat(outer.release()).isFalse();
    }

    @Test
    void severalKeysAreTakenAllOrNone() {
        Party a = member(
                "a",
                Map.of(
                        Bench.KEY,
                        settings(1, OnStoreFailure.LOCAL),
                        "b",
                        settings(1, OnStoreFailure.LOCAL),
                        "c",
                        settings(1, OnStoreFailure.FAIL)));
        a.engine.named("b");
        settle(a);
        outage(a);
        PermitRequest one = PermitRequest.builder(Bench.KEY).name(Bench.KEY).build();
        PermitRequest two = PermitRequest.builder("b").name("b").build();
        PermitRequest three = PermitRequest.builder("z").name("c").build();
        CompletableFuture<?> both = a.engine.acquireAllAsync(List.of(one, two));
        assertThat(both).isCompleted();
        assertRejected(a.tryAcquire(), Reason.LIMIT_REACHED);
        ((io.github.distributedpermit.PermitGroup) both.join()).release();
        CompletableFuture<?> none = a.engine.acquireAllAsync(List.of(one, two, three));
        assertThat(none).isCompletedExceptionally();
        assertThat(a.tryAcquire().holds()).isTrue();
    }

    // ---- shutdown

    @Test
    void aShutdownWaitsForCallsThatRunAndRejectsThoseThatWait() {
        Party a = local("a", 1);
        settle(a);
        outage(a);
        Asked running = a.acquire();
        Asked waiting = a.acquire();
        CompletableFuture<Void> done = a.engine.shutdown().toCompletableFuture();
        assertRejected(waiting, Reason.SHUTTING_DOWN);
        assertRejected(a.acquire(), Reason.SHUTTING_DOWN);
        assertRejected(a.tryAcquire(), Reason.LIMIT_REACHED);
        bench.run(Duration.ofMinutes(1));
        assertThat(done).isNotDone();
        assertThat(running.holds()).isTrue();
        running.release();
        bench.run(Bench.COMMAND.plusMillis(10));
        assertThat(done).isCompleted();
        a.engine.close();
        bench.run(Duration.ofMinutes(1));
        assertThat(bench.time.pending()).isZero();
    }

    @Test
    void aShutdownThatOutlastsTheOutageWaitsForCallsThatRun() {
        Party a = allowing("a", 1);
        settle(a);
        outage(a);
        List<Asked> running = tries(a, 3);
        CompletableFuture<Void> done = a.engine.shutdown().toCompletableFuture();
        untilUsedAgain();
        assertThat(done).isNotDone();
        assertThat(held(running)).isEqualTo(3);
        running.forEach(Asked::release);
        bench.run(Duration.ofSeconds(3));
        assertThat(done).isCompleted();
        assertThat(bench.used()).isZero();
    }

    // ---- what is to be seen of it

    @Test
    void eachNameIsLoggedOnceWhenItBeginsAndTheEndOnce() {
        Party a = local("a", 4);
        Party b = local("b", 4);
        settle(a, b);
        List<String> lines = logged(() -> {
            outage(a);
            for (int i = 0; i < 10; i++) {
                a.acquire().release();
            }
            a.acquire();
            bench.run(Duration.ofMinutes(5));
            untilUsedAgain();
        });
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0))
                .contains("has not answered for 10", "permit 'report'", "LOCAL")
                .contains("2 of the 4 permits of a key, its share among 2 instance(s)")
                .contains("distributed-permit.permits.report.on-store-failure");
        assertThat(lines.get(1)).contains("12 call(s)", "'report' (12, 1 permit(s) of them still in use)");
    }

    @Test
    void theObserverLearnsWhereThePermitCameFrom() {
        List<PermitObserver.Via> seen = new ArrayList<>();
        Party a = bench.member(
                "a",
                Map.of(Bench.KEY, settings(1, OnStoreFailure.ALLOW)),
                CoreSettings.DEFAULTS,
                Bench.observing(new PermitObserver() {
                    @Override
                    public void acquired(PermitCall call, Via via, Duration waited) {
                        seen.add(via);
                    }
                }));
        settle(a);
        outage(a);
        a.acquire().release();
        assertThat(seen).hasSize(2).containsOnly(PermitObserver.Via.OUTAGE);
        assertThat(a.engine.status().isBypassed()).isTrue();
    }

    @Test
    void callsThatRunAreListed() {
        Party a = allowing("a", 1);
        settle(a);
        outage(a);
        tries(a, 3);
        assertThat(a.engine.calls(Bench.KEY, 10)).hasSize(3).allMatch(call -> call.is(CallView.State.HOLDING));
        untilUsedAgain();
        assertThat(a.engine.calls(Bench.KEY, 10)).hasSize(3).allMatch(call -> call.is(CallView.State.HOLDING));
        assertThat(a.engine.gauges(Bench.KEY).orElseThrow().longestWait()).isEmpty();
        assertThat(a.engine.gauges(Bench.KEY).orElseThrow().longestHold()).isPresent();
    }

    @Test
    void theLongestHoldOfEachNameOfAKeyIsSeen() {
        PermitSettings allow = settings(3, OnStoreFailure.ALLOW);
        Party a = member("a", Map.of(Bench.KEY, allow, "other", allow));
        settle(a);
        outage(a);
        a.acquire();
        assertThat(new Asked(a.engine.named("other").acquireAsync(PermitRequest.of(Bench.KEY))).holds())
                .isTrue();
        bench.run(Duration.ofSeconds(2));
        for (String name : List.of(Bench.KEY, "other")) {
            assertThat(a.engine.gauges(name).orElseThrow().longestHold())
                    .as(name)
                    .isPresent();
        }
    }

    // ---- errors

    @Test
    void anErrorOfACallbackLosesNoPermit() {
        boolean[] planted = {false};
        Party a = bench.member(
                "a",
                Map.of(Bench.KEY, settings(2, OnStoreFailure.LOCAL)),
                CoreSettings.DEFAULTS,
                Bench.observing(new PermitObserver() {
                    @Override
                    public void acquired(PermitCall call, Via via, Duration waited) {
                        if (planted[0]) {
                            throw new LinkageError("planted");
                        }
                    }
                }));
        settle(a);
        outage(a);
        planted[0] = true;
        Asked first = a.acquire();
        Asked second = a.acquire();
        assertThat(first.holds() && second.holds()).isTrue();
        first.future.whenComplete((permit, failure) -> {
            throw new LinkageError("planted");
        });
        Asked third = a.acquire();
        first.release();
        assertThat(third.holds()).isTrue();
        second.release();
        third.release();
        planted[0] = false;
        untilUsedAgain();
        assertNothingIsLeft(a);
    }

    @Test
    void thousandsOfCallsInAnOutageSendNoClaimsOfTheirOwn() {
        Party a = allowing("a", 1);
        settle(a);
        outage(a);
        a.acquire().release();
        bench.run(Duration.ofMinutes(1));
        long claims = a.claims();
        List<Asked> calls = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            calls.add(a.acquireOf("key-" + i, Duration.ofSeconds(1)));
        }
        bench.run(Duration.ofMinutes(1));
        release(calls);
        assertThat(a.claims() - claims).isLessThan(60);
        bench.run(Duration.ofMinutes(1));
        assertThat(a.engine.keys()).isLessThan(10);
    }
}
