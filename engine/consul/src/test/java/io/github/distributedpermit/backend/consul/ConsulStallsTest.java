package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Answers that begin and never end, and requests that wait for others. */
class ConsulStallsTest {

    private static final Duration SHORT = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int MOST_CLAIMS_AT_A_TIME = 10;

    private final ConsulFront front = new ConsulFront(SharedConsul.get().address());
    private final Bench bench = new Bench(front.address(), SharedConsul.get().probe());

    @AfterEach
    void leave() {
        front.behave();
        bench.close();
        front.close();
    }

    private TestMember member(Duration requestTimeout) {
        return bench.member(bench.settings(ConsulLayout.SLOTS, requestTimeout));
    }

    @Test
    void transactionWhoseAnswerNeverEndsTimesOutAndTheKeyWorksAgain() throws InterruptedException {
        TestMember a = member(SHORT);
        awaitPermit(a, "other");
        CountDownLatch hungUp = front.drip("/v1/txn");

        checkTimeOut(TestMember.failure(a.ask("stalled", 1, 1, 1)));

        assertThat(hungUp.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        front.behave();
        awaitPermit(a, "stalled");
        assertThat(a.losses()).isZero();
        awaitReturn(a, "other");
    }

    @Test
    void sessionWhoseAnswerNeverEndsIsMadeAnew() throws InterruptedException {
        CountDownLatch hungUp = front.drip("/v1/session/create");
        TestMember a = member(SHORT);

        checkTimeOut(TestMember.failure(a.ask("stalled", 1, 1, 1)));

        assertThat(hungUp.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        front.behave();
        awaitPermit(a, "stalled");
    }

    /** As a server does that has come back and not read all of its log. */
    @Test
    void serverThatDoesNotKnowTheSessionYetIsAskedAgain() {
        front.answerRead("&index=", 404, "");
        TestMember a = member(SHORT);
        awaitPermit(a, "held");
        await().atMost(PATIENCE).until(() -> count("consistent") > 0);
        front.answer("/v1/session/renew", 404, "");
        long confirmations = count("consistent");
        await().atMost(PATIENCE).until(() -> count("/v1/session/renew") > 0);
        await().atMost(PATIENCE).until(() -> count("consistent") > confirmations);
        int before = a.signs();
        front.behave();

        await().atMost(PATIENCE).until(() -> a.signs() > before);
        assertThat(a.losses()).isZero();
    }

    private long count(String path) {
        return front.requests().stream()
                .filter(request -> request.contains(path))
                .count();
    }

    @Test
    void renewalWhoseAnswerNeverEndsIsRepeated() throws InterruptedException {
        TestMember a = member(SHORT);
        awaitPermit(a, "renewed");
        CountDownLatch hungUp = front.drip("/v1/session/renew");
        assertThat(hungUp.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        int before = a.signs();

        front.behave();

        await().atMost(PATIENCE).until(() -> a.signs() > before);
        assertThat(a.losses()).isZero();
    }

    @Test
    void watchWhoseAnswerNeverEndsIsRepeated() throws InterruptedException {
        CountDownLatch hungUp = front.drip("/.inbox/");
        TestMember a = member(SHORT);
        TestMember b = member(SHORT);
        awaitPermit(a, "watched");
        patiently().until(() -> b.ask("watched", 1, 1, 1).get().permits() == 0);
        assertThat(hungUp.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        awaitReturn(a, "watched");

        front.behave();

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(b.grants()).isNotEmpty());
    }

    @Test
    void fenceDoesNotWaitBehindClaims() {
        TestMember a = member(PATIENCE);
        a.queue("other", 1, 1);
        CountDownLatch gate = new CountDownLatch(1);
        long before = transactions();
        front.hold("/v1/txn", gate);
        List<CompletableFuture<Holding>> claims = IntStream.range(0, MOST_CLAIMS_AT_A_TIME + 5)
                .mapToObj(i -> a.ask("behind-" + i, 1, 1, 1))
                .toList();
        await().until(() -> transactions() == before + MOST_CLAIMS_AT_A_TIME);

        Membership membership = a.consul().membership();
        a.consul().loop().execute(() -> membership.outcomeUnknown(Objects.requireNonNull(membership.current())));

        await().until(() -> transactions() == before + MOST_CLAIMS_AT_A_TIME + 1);
        gate.countDown();
        assertThat(claims).allMatch(claim -> TestMember.answer(claim).permits() == 1);
    }

    /** Until its request is sent, an additional session does not exist, and so limits the validity of no permit. */
    @Test
    void sessionThatWaitsToBeRequestedBehindClaimsShortensNoPermit() {
        TestMember a = bench.member(bench.settings(ConsulLayout.LOCK_FILE, Duration.ofMinutes(2)));
        a.queue("held", 1, 1);
        CountDownLatch gate = new CountDownLatch(1);
        long before = transactions();
        front.hold("/v1/txn", gate);
        List<CompletableFuture<Holding>> claims = IntStream.range(0, MOST_CLAIMS_AT_A_TIME)
                .mapToObj(i -> a.ask("before-" + i, 1, 1, 1))
                .toList();
        await().until(() -> transactions() == before + MOST_CLAIMS_AT_A_TIME);
        CompletableFuture<Holding> needsTwo = a.ask("two", 2, 2, 1);

        int signs = a.signs();
        await().atMost(Duration.ofSeconds(60)).until(() -> a.signs() >= signs + 4);

        gate.countDown();
        assertThat(TestMember.answer(needsTwo).permits()).isEqualTo(2);
        assertThat(claims).allMatch(claim -> TestMember.answer(claim).permits() == 1);
    }

    private long transactions() {
        return front.requests().stream().filter(r -> r.endsWith("/v1/txn")).count();
    }

    private static void checkTimeOut(PermitStoreException failure) {
        assertThat(failure).hasMessageContaining("timed out");
        assertThat(failure.isPermanent()).isFalse();
    }

    private static void awaitPermit(TestMember member, String key) {
        patiently().until(() -> member.ask(key, 1, 1, 1).get().permits() == 1);
    }

    private static void awaitReturn(TestMember member, String key) {
        patiently().until(() -> member.ask(key, 1, 0, 0).get().permits() == 0);
    }

    /** On a loaded machine a request may take longer than {@link #SHORT}. */
    private static ConditionFactory patiently() {
        return await().atMost(PATIENCE).ignoreExceptions();
    }
}
