package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What prototypes of this layout got wrong, and what it costs. */
class SlotsTest {

    /** A member that has not returned its permits by then leaves that to the end of its session. */
    private static final Duration SOON_CLOSED = Duration.ofMillis(400);

    /** Consul ends a session that was not ended at once after up to twice its TTL of 15 s. */
    private static final Duration TWO_SESSIONS = Duration.ofSeconds(60);

    private final ConsulProbe probe = SharedConsul.get().probe();
    private final ConsulFront front = new ConsulFront(SharedConsul.get().address());
    private final Bench bench = new Bench(front.address(), probe);

    @AfterEach
    void leave() {
        bench.close();
        front.close();
    }

    private long transactions() {
        return front.requests().stream().filter(r -> r.endsWith("/v1/txn")).count();
    }

    @Test
    void uncontendedPairIsTwoTransactionsAndNoRead() {
        TestMember a = bench.member();
        a.queue("pair", 3, 1);
        a.keep("pair", 3, 0);
        long before = transactions();

        for (int i = 0; i < 10; i++) {
            a.queue("pair", 3, 1);
            a.keep("pair", 3, 0);
        }

        assertThat(transactions() - before).isEqualTo(20);
    }

    /** Each answer brings the return and the next claim, so that no thread can send the return before the claim comes. */
    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void returnAndClaimAtOnceAreOneReadAndNoWrite(ConsulLayout layout) {
        TestMember a = bench.member(bench.settings(layout, Bench.REQUEST_TIMEOUT));
        a.queue("loop", 1, 1);
        List<ConsulProbe.Key> keys = bench.keys("loop");
        long before = transactions();

        CompletableFuture<Holding> first = new CompletableFuture<>();
        CompletableFuture<Holding> answer = first;
        for (int pair = 0; pair < 10; pair++) {
            answer = answer.thenCompose(held -> {
                assertThat(held.permits()).isEqualTo(1);
                a.ask("loop", 1, 0, 0);
                return a.ask("loop", 1, 1, 1);
            });
        }
        a.consul().loop().execute(() -> a.ask("loop", 1, 1, 1).thenAccept(first::complete));

        assertThat(TestMember.answer(answer).permits()).isEqualTo(1);
        assertThat(transactions() - before).isEqualTo(1 + 10);
        assertThat(bench.keys("loop")).isEqualTo(keys);
    }

    /** The first waiter notifies the holder, which then reads the key instead of failing on its cached snapshot. */
    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void handOverToTheFirstWaiterIsAReadAndOneTransaction(ConsulLayout layout) {
        Duration timeout = Bench.REQUEST_TIMEOUT;
        TestMember a = bench.member(bench.settings(layout, timeout));
        TestMember b = bench.member(bench.settings(SharedConsul.get().address(), layout, timeout));
        for (int round = 1; round <= 3; round++) {
            int served = round;
            a.queue("hand-over", 1, 1);
            b.queue("hand-over", 1, 1);
            await().until(() -> watchesSince(a, notice(a)));
            long before = transactions();

            a.keep("hand-over", 1, 0);

            assertThat(transactions() - before).isEqualTo(2);
            await().untilAsserted(() -> assertThat(b.grants()).hasSize(served));
            b.keep("hand-over", 1, 0);
        }
    }

    /** The index at which the last waiter notified the member. */
    private long notice(TestMember member) {
        String name = "/" + bench.sessions(member).get(0).id() + "/.contended";
        return probe.keys(bench.prefix()).stream()
                .filter(key -> key.name().endsWith(name))
                .mapToLong(ConsulProbe.Key::modified)
                .max()
                .orElse(Long.MAX_VALUE);
    }

    /** A member watches its inbox again when it has read all that it contains. */
    private boolean watchesSince(TestMember member, long index) {
        Pattern watch = Pattern.compile(bench.sessions(member).get(0).id() + "/\\?.*index=([0-9]+)");
        return front.requests().stream()
                .map(watch::matcher)
                .anyMatch(m -> m.find() && Long.parseLong(m.group(1)) >= index);
    }

    @Test
    void membersOfAKeyWithRoomDoNotGetInEachOthersWay() {
        TestMember a = bench.member();
        TestMember b = bench.member();
        a.queue("room", 9, 1);
        b.queue("room", 9, 1);
        a.queue("room", 9, 1);
        long before = transactions();

        for (int i = 0; i < 5; i++) {
            a.queue("room", 9, 2);
            a.keep("room", 9, 1);
        }

        assertThat(transactions() - before).isEqualTo(10);
        assertThat(bench.slots("room")).isEqualTo(2);
    }

    @Test
    void anyNumberOfKeysHasOneSessionOneRenewalAndOneWatch() {
        long began = System.nanoTime();
        TestMember a = bench.member();
        TestMember b = bench.member();
        for (int i = 0; i < 30; i++) {
            a.queue("key-" + i, 1, 1);
            b.queue("key-" + i, 1, 1);
        }

        assertThat(bench.sessions(b)).hasSize(1);
        assertThat(front.requests().stream().filter(r -> r.contains("session/create")))
                .hasSize(2);
        String session = bench.sessions(b).get(0).id();
        assertThat(front.requests().stream().filter(r -> r.contains(session) && r.contains("recurse")))
                .as("no member was served, so nothing woke but the first; a query lasts 30 s")
                .hasSizeLessThanOrEqualTo(2 + (int) since(began).toSeconds() / 30);
    }

    @Test
    void moreThanSixtyFourOperationsAreSeveralTransactions() {
        TestMember a = bench.member();
        TestMember b = bench.member();

        assertThat(TestMember.answer(a.ask("wide", 300, 250, 250)).permits()).isEqualTo(250);
        assertThat(TestMember.answer(b.ask("wide", 300, 200, 200)).permits()).isZero();
        assertThat(bench.slots("wide")).isEqualTo(250);

        a.keep("wide", 300, 0);

        await().untilAsserted(() -> assertThat(b.grants()).hasSize(1));
        assertThat(b.grants().get(0).permits()).isEqualTo(200);
        assertThat(bench.slots("wide")).isEqualTo(200);
        b.keep("wide", 300, 0);
        assertThat(bench.keys("wide")).isEmpty();
    }

    @Test
    void limitsAboveAThousandAreRefused() {
        TestMember a = bench.member();

        assertThat(a.queue("big", 1000, 1).permits()).isEqualTo(1);
        PermitStoreException limit = TestMember.failure(a.ask("big", 1001, 1, 1));
        assertThat(limit.isPermanent()).isTrue();
        assertThat(limit).hasMessageContaining("1001").hasMessageContaining("big");
        assertThat(TestMember.failure(
                        a.store().override("big", OverrideLimit.of(1001)).toCompletableFuture()))
                .hasMessageContaining("1001");
    }

    @Test
    void overrideOfAKeyThatWasTakenForIdleIsHeeded() {
        TestMember operator = bench.member();
        operator.override("paused", OverrideLimit.of(0));
        TestMember a = bench.member();

        assertThat(a.attempt("paused", 3, 1).permits()).isZero();
        assertThat(bench.slots("paused")).isZero();

        operator.override("paused", OverrideLimit.of(2));
        assertThat(bench.member().queue("paused", 9, 5).permits()).isEqualTo(2);
    }

    @Test
    void transactionThatWasGivenUpNeverLands() throws Exception {
        TestMember a = bench.member(bench.settings(ConsulLayout.SLOTS, Duration.ofSeconds(8)));
        a.queue("other", 1, 1);
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        front.delayNext("/v1/txn", arrived, gate);

        CompletableFuture<Holding> slow = a.ask("late", 1, 1, 1);
        arrived.await();
        assertThat(TestMember.failure(slow).isPermanent()).isFalse();
        assertThat(a.attempt("other", 1, 1).permits()).isEqualTo(1);
        long before = front.requests().size();
        gate.countDown();

        // whatever it does now, the next claim sees it
        assertThat(a.keep("late", 1, 0).permits()).isZero();
        assertThat(front.requests().size()).isGreaterThan((int) before);
        TestMember b = bench.member();
        for (int i = 0; i < 20; i++) {
            assertThat(b.attempt("late", 1, 1).permits()).isEqualTo(1);
            b.keep("late", 1, 0);
        }
        assertThat(bench.keys("late")).isEmpty();
    }

    @Test
    void deadWaiterIsSkippedAndOrderIsKept() {
        TestMember a = bench.member();
        TestMember dead = bench.member();
        TestMember b = bench.member();
        TestMember c = bench.member();
        a.queue("order", 1, 1);
        dead.queue("order", 1, 1);
        b.queue("order", 1, 1);
        c.queue("order", 1, 1);
        dead.die();
        probe.destroySession(bench.sessions(dead).get(0).id());

        a.keep("order", 1, 0);

        await().untilAsserted(() -> assertThat(b.grants()).hasSize(1));
        b.keep("order", 1, 0);
        await().untilAsserted(() -> assertThat(c.grants()).hasSize(1));
    }

    @Test
    void memberServedAgainAndAgainIsToldEachTime() {
        TestMember a = bench.member();
        TestMember b = bench.member();
        for (int round = 1; round <= 5; round++) {
            int served = round;
            a.queue("again", 1, 1);
            b.queue("again", 1, 1);
            a.keep("again", 1, 0);
            await().untilAsserted(() -> assertThat(b.grants()).hasSize(served));
            b.keep("again", 1, 0);
        }
        Set<Long> versions = new HashSet<>();
        b.grants().forEach(grant -> versions.add(grant.version()));
        assertThat(versions).hasSize(5);
    }

    @Test
    void damagedOrForeignSlotIsReportedByNameAndLeftAlone() {
        TestMember a = bench.member();
        TestMember b = bench.member();
        a.queue("damaged", 3, 1);
        probe.put("kv/" + bench.tree("damaged") + "slot_001", "not ours");

        PermitStoreException failure = TestMember.failure(b.ask("damaged", 3, 1, 1));

        assertThat(failure.isPermanent()).isTrue();
        assertThat(failure).hasMessageContaining(bench.tree("damaged") + "slot_001");
        assertThat(bench.keys("damaged"))
                .filteredOn(key -> key.name().endsWith("slot_001"))
                .extracting(ConsulProbe.Key::value)
                .containsExactly("not ours");
        assertThat(TestMember.failure(b.store().inspect("damaged").toCompletableFuture()))
                .hasMessageContaining("slot_001");
        probe.deleteTree(bench.tree("damaged"));
    }

    @Test
    void keyOfTheOtherLayoutIsRefused() {
        TestMember a = bench.member();
        probe.put("kv/" + bench.tree("mixed") + ".lock", "{\"Limit\":3,\"Holders\":{}}");

        assertThat(TestMember.failure(a.ask("mixed", 3, 1, 1)))
                .hasMessageContaining(".lock")
                .hasMessageContaining("lock-file");
        assertThat(bench.slots("mixed")).isZero();
        probe.deleteTree(bench.tree("mixed"));
    }

    @Test
    void idleHolderOfManyKeysIsCheckedByOneReadPerSixtyPermitsAndNoWrite() {
        TestMember a = bench.member(bench.settings(ConsulLayout.SLOTS, Bench.REQUEST_TIMEOUT));
        for (int i = 0; i < 61; i++) {
            a.queue("idle-" + i, 1, 1);
        }
        long writes = transactions();
        long before = checks();
        long began = System.nanoTime();

        await().atMost(Duration.ofMinutes(1)).until(() -> checks() >= before + 4);

        // The first and the last may have been under way.
        long rounds = 2 + since(began).dividedBy(ConsulSettings.SHORTEST_TTL.dividedBy(3));
        assertThat(checks() - before).isLessThanOrEqualTo(2 * rounds);
        assertThat(transactions()).isEqualTo(writes);
        assertThat(a.grants()).isEmpty();
    }

    private static Duration since(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos);
    }

    private long checks() {
        return front.requests().stream()
                .filter(r -> r.endsWith("/v1/txn?consistent"))
                .count();
    }

    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void prefixThatIsTheKeyOfAnotherApplicationDoesNotCollide(ConsulLayout layout) {
        ConsulSettings outer = bench.settings(layout, Bench.REQUEST_TIMEOUT);
        TestMember a = bench.member(outer);
        TestMember b = bench.member(new ConsulSettings(
                outer.address(),
                outer.token(),
                outer.tls(),
                outer.prefix() + "/export",
                layout,
                outer.sessionTtl(),
                outer.requestTimeout()));
        for (String key : List.of("slot_001", "m_x", "export")) {
            assertThat(b.queue(key, 2, 2).permits()).isEqualTo(2);
        }

        assertThat(a.queue("export", 2, 1).permits()).isEqualTo(1);
        TestMember c = bench.member(outer);
        assertThat(c.queue("export", 2, 2).permits()).isEqualTo(1);
        assertThat(a.keep("export", 2, 0).permits()).isZero();
        await().untilAsserted(() -> assertThat(c.grants()).hasSize(1));
        assertThat(b.keep("slot_001", 2, 2).permits()).isEqualTo(2);
        assertThat(b.losses()).isZero();
    }

    @Test
    void closingServesTheLineAndLeavesNoSession() {
        TestMember a = bench.member();
        TestMember b = bench.member();
        a.queue("closing", 2, 2);
        b.queue("closing", 2, 1);
        long before = System.nanoTime();

        a.close();

        Duration closing = since(before);
        assertThat(closing).isLessThan(Bench.REQUEST_TIMEOUT);
        if (closing.compareTo(SOON_CLOSED) < 0) {
            await().untilAsserted(() -> assertThat(b.grants()).hasSize(1));
        } else { // too slow to serve others; the end of the session frees the permits
            await().atMost(TWO_SESSIONS).until(() -> b.queue("closing", 2, 1).permits() == 1);
        }
        await().atMost(TWO_SESSIONS)
                .untilAsserted(() -> assertThat(bench.sessions(a)).isEmpty());
        assertThat(TestMember.failure(a.ask("closing", 2, 1, 1)).isPermanent()).isTrue();
    }

    @Test
    void versionsOfDifferentHoldersNeverMeet() {
        TestMember a = bench.member();
        TestMember b = bench.member();
        Set<Long> ofA = new HashSet<>();
        Set<Long> ofB = new HashSet<>();
        for (int i = 0; i < 10; i++) {
            ofA.add(a.queue("versions", 9, 2).version());
            ofB.add(b.queue("versions", 9, 1).version());
            ofA.add(a.queue("versions", 9, 2 - i % 2).version());
            ofB.add(b.queue("versions", 9, 1 + i % 2).version());
        }

        assertThat(ofA).doesNotContainAnyElementsOf(ofB);
    }
}
