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
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is easily got wrong with boards that are out of date, and with transactions that Consul refuses. */
class MistakesTest {

    private static final String KEY = "mistakes";

    private final ConsulProbe probe = SharedConsul.get().probe();
    private final ConsulFront front = new ConsulFront(SharedConsul.get().address());
    private final Bench bench = new Bench(front.address(), probe);
    private final CountDownLatch gate = new CountDownLatch(1);

    @AfterEach
    void leave() {
        bench.close();
        front.close();
    }

    private void destroySession(TestMember member) {
        probe.destroySession(bench.sessions(member).get(0).id());
    }

    @Test
    void slotThatLookedFreeOnAnOldBoardIsNotTaken() {
        TestMember a = bench.member();
        TestMember b = bench.member();
        a.queue(KEY, 3, 1);
        b.queue(KEY, 3, 1);
        b.keep(KEY, 3, 0);
        a.queue(KEY, 3, 3); // of which b hears nothing

        assertThat(b.attempt(KEY, 3, 1).permits()).isZero();
        assertThat(bench.slots(KEY)).isEqualTo(3);
    }

    @Test
    void memberWithALowerLimitCountsWhatOthersTookByAHigherOne() {
        TestMember a = bench.member();
        TestMember b = bench.member();
        a.queue(KEY, 3, 3);
        b.attempt(KEY, 3, 1);
        a.keep(KEY, 3, 1); // of which b hears nothing

        assertThat(b.attempt(KEY, 1, 1).permits()).isZero();
        assertThat(b.attempt(KEY, 2, 1).permits()).isEqualTo(1);
        assertThat(a.queue(KEY, 3, 2).permits()).isEqualTo(2);
        assertThat(bench.member().attempt(KEY, 2, 1).permits()).isZero();
    }

    @Test
    void limitThatTheGuardDoesNotHaveChangesTheGuard() {
        TestMember a = bench.member();
        TestMember b = bench.member();
        a.queue(KEY, 3, 1);
        b.queue(KEY, 3, 1);
        b.keep(KEY, 3, 0);
        a.keep(KEY, 5, 1);
        a.queue(KEY, 5, 4); // to b's old board, one is used

        assertThat(b.attempt(KEY, 3, 1).permits()).isZero();
        assertThat(bench.slots(KEY)).isEqualTo(4);
    }

    @Test
    void guardThatVanishedWithItsMakerLetsNobodyPassTheLine() {
        TestMember maker = bench.member();
        TestMember waiting = bench.member();
        maker.queue(KEY, 1, 1);
        waiting.queue(KEY, 1, 1);
        destroySession(maker);

        // it has never seen the key, and would try its luck without reading
        TestMember newcomer = bench.member();
        assertThat(newcomer.attempt(KEY, 1, 1).permits()).isZero();

        await().untilAsserted(() -> assertThat(waiting.grants()).hasSize(1));
        assertThat(bench.slots(KEY)).isEqualTo(1);
    }

    @Test
    void sessionOfSomebodyServedThatHasEndedIsReadAgain() {
        TestMember a = bench.member();
        TestMember dead = bench.member();
        TestMember b = bench.member();
        a.queue(KEY, 1, 1);
        dead.queue(KEY, 1, 1);
        b.queue(KEY, 1, 1);
        a.keep(KEY, 1, 1); // reads, so that it knows of both
        destroySession(dead);

        assertThat(a.keep(KEY, 1, 0).permits()).isZero();

        await().untilAsserted(() -> assertThat(b.grants()).hasSize(1));
        assertThat(a.losses()).isZero();
    }

    /** The grant was planned while the member waited, and is committed after the member has left the queue. */
    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void memberThatHasLeftTheQueueIsNotServed(ConsulLayout layout) throws InterruptedException {
        TestMember a = bench.member(bench.settings(layout, Bench.REQUEST_TIMEOUT));
        TestMember b = bench.member(bench.settings(SharedConsul.get().address(), layout, Bench.REQUEST_TIMEOUT));
        a.queue(KEY, 2, 1);
        b.queue(KEY, 2, 1);
        b.queue(KEY, 2, 2);
        CompletableFuture<Holding> returned = delayedReturn(a, b);
        assertThat(b.keep(KEY, 2, 1).permits()).isEqualTo(1);
        gate.countDown();

        assertThat(TestMember.answer(returned).permits()).isZero();

        readInbox(a, b);
        assertThat(b.grants(KEY)).isEmpty();
        assertThat(b.keep(KEY, 2, 1).permits()).isEqualTo(1);
        assertThat(a.attempt(KEY, 2, 1).permits()).isEqualTo(1);
    }

    /** A grant that is made later and has arrived shows that the member has read all of its inbox. */
    private static void readInbox(TestMember other, TestMember member) {
        other.queue("later", 1, 1);
        member.queue("later", 1, 1);
        other.keep("later", 1, 0);
        await().until(() -> member.grants("later").size() == 1);
        member.keep("later", 1, 0);
    }

    /** The guard vanishes with the session of the member that made it, so that nothing but the entry shows who waits. */
    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void memberThatHasLeftAQueueWithoutAGuardIsNotServed(ConsulLayout layout) throws InterruptedException {
        TestMember maker = bench.member(bench.settings(layout, Bench.REQUEST_TIMEOUT));
        TestMember a = bench.member(bench.settings(layout, Bench.REQUEST_TIMEOUT));
        TestMember b = bench.member(bench.settings(SharedConsul.get().address(), layout, Bench.REQUEST_TIMEOUT));
        a.override(KEY, OverrideLimit.of(0));
        maker.queue(KEY, 1, 1);
        b.queue(KEY, 1, 1);
        destroySession(maker);
        assertThat(bench.keys(KEY)).noneMatch(key -> key.name().endsWith(".line"));
        CountDownLatch arrived = delayService(b);
        CompletableFuture<Void> lifted =
                a.store().override(KEY, OverrideLimit.empty()).toCompletableFuture();
        arrived.await();
        assertThat(b.keep(KEY, 1, 0).permits()).isZero();
        gate.countDown();

        lifted.join();

        readInbox(a, b);
        assertThat(b.grants(KEY)).isEmpty();
        assertThat(bench.keys(KEY)).isEmpty();
    }

    /** Of a session that has ended the contender is gone, although its member may still wait. */
    @Test
    void contenderThatHasVanishedIsNotServed() throws InterruptedException {
        TestMember a = bench.member(bench.settings(ConsulLayout.LOCK_FILE, Bench.REQUEST_TIMEOUT));
        TestMember b = bench.member(
                bench.settings(SharedConsul.get().address(), ConsulLayout.LOCK_FILE, Bench.REQUEST_TIMEOUT));
        a.queue(KEY, 2, 2);
        b.queue(KEY, 2, 1);
        CompletableFuture<Holding> returned = delayedReturn(a, b);
        probe.deleteTree(bench.tree(KEY) + mainSession(b));
        gate.countDown();

        assertThat(TestMember.answer(returned).permits()).isZero();

        readInbox(a, b);
        assertThat(b.grants(KEY)).isEmpty();
        assertThat(b.queue(KEY, 2, 1).permits()).isEqualTo(1);
    }

    /** The transaction that serves the waiting member arrives when the gate opens. */
    private CompletableFuture<Holding> delayedReturn(TestMember member, TestMember served) throws InterruptedException {
        CountDownLatch arrived = delayService(served);
        CompletableFuture<Holding> returned = member.ask(KEY, 2, 0, 0);
        arrived.await();
        return returned;
    }

    private CountDownLatch delayService(TestMember served) {
        CountDownLatch arrived = new CountDownLatch(1);
        front.delayNext("/v1/txn", "/.inbox/" + mainSession(served), arrived, gate);
        return arrived;
    }

    private String mainSession(TestMember member) {
        return bench.sessions(member).stream()
                .filter(session -> !session.name().endsWith("(permit)"))
                .map(ConsulProbe.Session::id)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void ownSessionThatHasEndedIsALossAndNotRepeated() {
        // Nothing else notices it meanwhile: no renewal comes, and no look at permits that are held.
        TestMember a = bench.member(bench.settings(Optional.empty(), Duration.ofSeconds(90)));
        front.answer(
                "recurse", 500,
                ""); // the watch would notice first, and the answer to one that has begun can be quicker
        a.queue(KEY, 1, 1);
        destroySession(a);
        long before = transactions();

        PermitStoreException failure = TestMember.failure(a.ask(KEY, 1, 0, 0));

        assertThat(failure.isPermanent()).isFalse();
        assertThat(failure).hasMessageContaining("session");
        assertThat(a.losses()).isEqualTo(1);
        // the next session's fence may be among them
        assertThat(transactions() - before).isLessThanOrEqualTo(3);
    }

    /** As a leader answers that has not replayed all of its log. */
    @ParameterizedTest
    @ValueSource(strings = {"key \\\"FENCE\\\" doesn't exist", "invalid session \\\"SESSION\\\""})
    void sessionThatALeaderDoesNotKnowYetIsNotGivenUp(String reason) {
        TestMember a = bench.member();
        a.queue("held", 1, 1);
        String session = bench.sessions(a).get(0).id();
        String what = reason.replace("FENCE", bench.prefix() + "/.inbox/" + session + "/.member")
                .replace("SESSION", session);
        front.answerOnly(
                "PUT /v1/txn", 409, "{\"Results\":null,\"Errors\":[{\"OpIndex\":0,\"What\":\"" + what + "\"}]}");

        CompletableFuture<Holding> other = a.ask(KEY, 1, 1, 1);
        Membership membership = a.consul().membership();
        a.consul().loop().execute(() -> membership.outcomeUnknown(Objects.requireNonNull(membership.current())));
        await().until(() -> other.isDone() || front.requests().contains("PUT /v1/txn?consistent"));
        front.behave();

        await().ignoreExceptions().until(() -> a.ask(KEY, 1, 1, 1).get().permits() == 1);
        assertThat(a.losses()).isZero();
        assertThat(bench.sessions(a)).extracting(ConsulProbe.Session::id).containsExactly(session);
        assertThat(a.keep("held", 1, 1).permits()).isEqualTo(1);
    }

    /** A leader that has not replayed all of its log answers a plain read from an older state. */
    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void permitThatALeaderStillShowsAfterItsReturnIsNotGrantedAgain(ConsulLayout layout) {
        TestMember a = bench.member(bench.settings(layout, Bench.REQUEST_TIMEOUT));
        TestMember b = bench.member(bench.settings(SharedConsul.get().address(), layout, Bench.REQUEST_TIMEOUT));
        a.queue(KEY, 1, 1);
        String fence = bench.prefix() + "/.inbox/" + bench.sessions(a).get(0).id() + "/.member";
        String older = probe.answer(
                        "txn",
                        "[{\"KV\":{\"Verb\":\"get\",\"Key\":\"%s\"}},{\"KV\":{\"Verb\":\"get-tree\",\"Key\":\"%s\"}}]"
                                .formatted(fence, bench.tree(KEY)))
                .body();
        assertThat(a.keep(KEY, 1, 0).permits()).isZero();
        assertThat(b.queue(KEY, 1, 1).permits()).isEqualTo(1);
        front.answerReads(older);

        assertThat(a.queue(KEY, 1, 1).permits()).as("B holds the permit").isZero();

        assertThat(front.requests()).contains("PUT /v1/txn?consistent");
        front.behave();
        assertThat(b.keep(KEY, 1, 0).permits()).isZero();
        await().until(() -> a.grants(KEY).size() == 1);
    }

    /** The first claim of a key commits without a read, and compares what it got with the limit in the answer. */
    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void lostAnswerLeavesNoPermitAboveAnOverride(ConsulLayout layout) {
        TestMember a = bench.member(bench.settings(layout, Bench.REQUEST_TIMEOUT));
        TestMember b = bench.member(bench.settings(layout, Bench.REQUEST_TIMEOUT));
        b.override(KEY, OverrideLimit.of(0));
        a.queue("other", 1, 1); // the session is ready
        front.loseNextAnswer("/v1/txn", layout == ConsulLayout.SLOTS ? "slot_000" : ".lock");

        assertThat(TestMember.failure(a.ask(KEY, 1, 1, 1)).isPermanent()).isFalse();

        assertThat(a.queue(KEY, 1, 1).permits()).as("the key is paused").isZero();
        assertThat(a.inspect(KEY).used()).isZero();
        b.override(KEY, OverrideLimit.empty());
        await().until(() -> a.grants(KEY).size() == 1);
    }

    @Test
    void delayedConfirmationOfALostSessionSaysNothingOfTheNext() {
        TestMember a = bench.member(bench.settings(ConsulLayout.SLOTS, Duration.ofSeconds(5)));
        a.queue("other", 1, 1);
        Membership membership = a.consul().membership();
        Session first = Objects.requireNonNull(membership.current());
        front.delayNext("/v1/txn?consistent", new CountDownLatch(1), gate);
        a.consul().loop().execute(() -> membership.confirmLoss(first));
        await().until(() -> front.requests().contains("PUT /v1/txn?consistent"));
        destroySession(a);
        await().until(() -> a.losses() == 1);
        await().ignoreExceptions().until(() -> a.ask("other", 1, 1, 1).get().permits() == 1);
        Session second = Objects.requireNonNull(membership.current());
        front.answerOnly(
                "PUT /v1/txn",
                409,
                "{\"Results\":null,\"Errors\":[{\"OpIndex\":0,\"What\":\"invalid session \\\"" + second.id()
                        + "\\\"\"}]}");
        a.consul().loop().execute(() -> membership.outcomeUnknown(second));

        assertThat(TestMember.failure(a.ask(KEY, 1, 1, 1))).hasMessageContaining("invalid session");

        front.behave();
        await().ignoreExceptions().until(() -> a.ask(KEY, 1, 1, 1).get().permits() == 1);
        assertThat(a.losses()).isEqualTo(1);
        gate.countDown();
    }

    @Test
    void refusalOfAnUnknownKindIsAnErrorAndNotRepeated() {
        TestMember a = bench.member();
        a.queue("other", 1, 1);
        front.answer(
                "/v1/txn",
                409,
                "{\"Results\":null,\"Errors\":[{\"OpIndex\":1,\"What\":\"a reason no version knows\"}]}");
        long before = transactions();

        assertThat(TestMember.failure(a.ask(KEY, 1, 1, 1))).hasMessageContaining("no version knows");

        assertThat(transactions() - before).isEqualTo(1);
    }

    private long transactions() {
        return front.requests().stream().filter(r -> r.endsWith("/v1/txn")).count();
    }
}
