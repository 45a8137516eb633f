package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.ConsulServer;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.PermitStoreException;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What operators, agents and networks do to members. */
class ConsulFaultsTest {

    /** Shorter than a third of the TTL, after which a renewal would show the loss as well. */
    private static final Duration SOON = Duration.ofSeconds(20);

    private static final Duration LONG_TTL = Duration.ofSeconds(90);

    @Test
    void destroyedSessionIsToldWithinOneBlockingQueryAndTheNextIsMade() {
        ConsulProbe probe = SharedConsul.get().probe();
        try (Bench bench = new Bench(SharedConsul.get().address(), probe)) {
            TestMember a = bench.member(bench.settings(Optional.empty(), LONG_TTL));
            a.queue("destroyed", 2, 2);
            String session = bench.sessions(a).get(0).id();

            probe.destroySession(session);

            await().atMost(SOON).untilAsserted(() -> assertThat(a.losses()).isEqualTo(1));
            assertThat(bench.member().attempt("destroyed", 2, 2).permits()).isEqualTo(2);
            assertThat(a.attempt("destroyed", 2, 1).permits()).isZero();
            assertThat(a.queue("elsewhere", 1, 1).permits()).isEqualTo(1);
            assertThat(bench.sessions(a)).hasSize(1).noneMatch(s -> s.id().equals(session));
        }
    }

    @Test
    void deletedTreeIsALossAndNoSessionIsLeftOver() {
        ConsulProbe probe = SharedConsul.get().probe();
        try (Bench bench = new Bench(SharedConsul.get().address(), probe)) {
            TestMember a = bench.member(bench.settings(Optional.empty(), LONG_TTL));
            a.queue("deleted", 1, 1);

            probe.deleteTree(bench.prefix());

            await().atMost(SOON).untilAsserted(() -> assertThat(a.losses()).isEqualTo(1));
            assertThat(a.queue("deleted", 1, 1).permits()).isEqualTo(1);
            await().untilAsserted(() -> assertThat(bench.sessions(a)).hasSize(1));
        }
    }

    /** As by a delayed write, which had been given up. Consul quotes the key in its refusal, and so the prefix. */
    @Test
    void fenceThatWasRewrittenIsWrittenAgainWhateverThePrefixContains() {
        ConsulProbe probe = SharedConsul.get().probe();
        try (Bench bench = new Bench(SharedConsul.get().address(), probe, "coexist-")) {
            TestMember a = bench.member(bench.settings(Optional.empty(), LONG_TTL));
            a.queue("before", 1, 1);
            String session = bench.sessions(a).get(0).id();
            String fence = Session.fenceKey(bench.prefix(), session);
            ConsulProbe.Key written = probe.keys(fence).get(0);

            probe.put("kv/" + fence + "?acquire=" + session + "&flags=" + written.flags(), written.value() + " ");

            assertThat(probe.keys(fence).get(0).modified()).isGreaterThan(written.modified());
            await().atMost(SOON)
                    .ignoreExceptions()
                    .until(() -> a.ask("after", 1, 1, 1).get().permits() == 1);
            assertThat(a.losses()).isZero();
        }
    }

    @Test
    void keysOfALostSessionLeaveNothingBehindThatIsGivenBackAgain() {
        ConsulProbe probe = SharedConsul.get().probe();
        try (ConsulFront front = new ConsulFront(SharedConsul.get().address());
                Bench bench = new Bench(front.address(), probe)) {
            TestMember a = bench.member(bench.settings(Optional.empty(), LONG_TTL));
            for (int i = 0; i < 20; i++) {
                a.queue("forgotten-" + i, 1, 1);
            }
            probe.destroySession(bench.sessions(a).get(0).id());
            await().atMost(SOON).untilAsserted(() -> assertThat(a.losses()).isEqualTo(1));
            a.store()
                    .inspect("any")
                    .toCompletableFuture()
                    .orTimeout(20, TimeUnit.SECONDS)
                    .join();
            long before = transactions(front);

            a.close();

            assertThat(transactions(front)).isEqualTo(before);
        }
    }

    private static long transactions(ConsulFront front) {
        return front.requests().stream().filter(r -> r.endsWith("/v1/txn")).count();
    }

    /** The reply, or its time-out, arrives after the end of the event loop. */
    @Test
    void inspectionAndEvictionUnderWayEndWhenTheMemberLeaves() {
        CountDownLatch gate = new CountDownLatch(1);
        try (ConsulFront front = new ConsulFront(SharedConsul.get().address());
                Bench bench = new Bench(front.address(), SharedConsul.get().probe())) {
            TestMember a = bench.member();
            a.queue("left", 1, 1);
            long before = transactions(front);
            front.hold("/v1/txn", gate);
            CompletableFuture<?> inspection = a.store().inspect("left").toCompletableFuture();
            CompletableFuture<?> eviction = a.store().evict("left", a.id()).toCompletableFuture();
            await().until(() -> transactions(front) >= before + 2);

            a.close();

            await().atMost(SOON).until(() -> inspection.isDone() && eviction.isDone());
            assertThat(TestMember.failure(inspection)).hasMessageContaining("has left");
            assertThat(TestMember.failure(eviction)).hasMessageContaining("has left");
        } finally {
            gate.countDown();
        }
    }

    /** As when a connection that no request waits for any more delivers what it held back. */
    @Test
    void fenceThatArrivesLateDoesNotKeepTheMemberFromItsKeys() {
        ConsulProbe probe = SharedConsul.get().probe();
        try (Bench bench = new Bench(SharedConsul.get().address(), probe)) {
            TestMember a = bench.member();
            a.queue("late-fence", 1, 1);
            String session = bench.sessions(a).get(0).id();
            ConsulProbe.Key fence = probe.keys(bench.prefix()).stream()
                    .filter(key -> key.name().endsWith(session + "/.member"))
                    .findFirst()
                    .orElseThrow();

            assertThat(probe.put("kv/" + fence.name() + "?acquire=" + session, fence.value() + " "))
                    .isEqualTo(200);

            assertThat(a.keep("late-fence", 1, 0).permits()).isZero();
            assertThat(bench.member().attempt("late-fence", 1, 1).permits()).isEqualTo(1);
            assertThat(a.losses()).isZero();
        }
    }

    @Test
    void agentRestartedEmptyIsALossAndServiceGoesOn() {
        try (ConsulServer server = ConsulServer.start();
                Bench bench = new Bench(server.address(), server.probe())) {
            TestMember a = bench.member();
            TestMember b = bench.member();
            for (int i = 0; i < 20; i++) { // so that the next index is lower
                a.queue("restarted", 1, 1);
                a.keep("restarted", 1, 0);
            }
            a.queue("restarted", 1, 1);

            server.kill();
            assertThat(TestMember.failure(b.ask("restarted", 1, 1, 1)).isPermanent())
                    .isFalse();
            server.run();

            await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
                assertThat(a.losses()).isEqualTo(1);
                assertThat(b.losses()).isEqualTo(1);
            });
            await().atMost(Duration.ofSeconds(30))
                    .ignoreExceptions()
                    .until(() -> a.ask("restarted", 1, 1, 1).get().permits() == 1);
            assertThat(b.queue("restarted", 1, 1).permits()).isZero();
            a.keep("restarted", 1, 0);
            await().untilAsserted(() -> assertThat(b.grants()).hasSize(1));

            // to both of them the index went backwards; their tokens differ all the same
            Set<Long> versions = new HashSet<>();
            for (int i = 0; i < 10; i++) {
                b.keep("restarted", 1, 0);
                assertThat(versions.add(a.attempt("restarted", 1, 1).version())).isTrue();
                a.keep("restarted", 1, 0);
                assertThat(versions.add(b.attempt("restarted", 1, 1).version())).isTrue();
            }
        }
    }

    @Test
    void tokenWithoutRightsIsAnErrorThatNamesThePolicyAndNeverTheToken() {
        String master = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa";
        try (ConsulServer server = ConsulServer.startWithAccessControl(master);
                ConsulFront front = new ConsulFront(server.address())) {
            ConsulProbe probe = server.probe().with(master);
            try (Bench bench = new Bench(server.address(), probe);
                    Bench watched = new Bench(front.address(), probe)) {
                String none = probe.newToken("session_prefix \"\" { policy = \"write\" }");
                String right = probe.newToken("session_prefix \"\" { policy = \"write\" } key_prefix \""
                        + bench.prefix() + "\" { policy = \"write\" }");

                for (Optional<String> wrong : java.util.List.of(Optional.<String>empty(), Optional.of(none))) {
                    TestMember denied = bench.member(bench.settings(wrong, Duration.ofSeconds(15)));
                    PermitStoreException failure = TestMember.failure(denied.ask("acl", 1, 1, 1));
                    assertThat(failure.isPermanent()).isTrue();
                    assertThat(failure).hasMessageContaining("policy");
                    assertThat(failure.toString()).doesNotContain(none);
                }
                TestMember allowed = bench.member(bench.settings(Optional.of(right), Duration.ofSeconds(15)));
                assertThat(allowed.queue("acl", 1, 1).permits()).isEqualTo(1);
                assertThat(allowed.attempt("acl", 1, 1).permits()).isEqualTo(1);

                // no hot loop: the pauses between its attempts grow to seconds
                TestMember denied = watched.member();
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> front.requests().size() >= 4);
                int before = front.requests().size();
                TestMember.failure(denied.ask("acl", 1, 1, 1));
                assertThat(front.requests().size() - before).isLessThanOrEqualTo(3);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"429,slow down", "500,rpc error", "503,<html>busy</html>", "200,{\"Results\":[", "200,[]", "200,''"})
    void nonsenseIsAPassingFailureAndTheMemberRecovers(int status, String body) {
        try (ConsulFront front = new ConsulFront(SharedConsul.get().address());
                Bench bench = new Bench(front.address(), SharedConsul.get().probe())) {
            TestMember a = bench.member();
            a.queue("other", 1, 1);
            front.answer("/v1/txn", status, body);

            PermitStoreException failure = TestMember.failure(a.ask("nonsense", 1, 1, 1));

            assertThat(failure.isPermanent()).isFalse();
            front.behave();
            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptions()
                    .until(() -> a.ask("nonsense", 1, 1, 1).get().permits() == 1);
            assertThat(a.losses()).isZero();
            a.keep("nonsense", 1, 0);
            assertThat(bench.keys("nonsense")).isEmpty();
        }
    }

    /** The notice of the grant comes although the member does not know whether it has begun to wait. */
    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void noticeAfterALostAnswerIsDeletedWithTheLastPermit(ConsulLayout layout) {
        ConsulProbe probe = SharedConsul.get().probe();
        try (ConsulFront front = new ConsulFront(SharedConsul.get().address());
                Bench bench = new Bench(SharedConsul.get().address(), probe)) {
            TestMember a = bench.member(bench.settings(layout, Bench.REQUEST_TIMEOUT));
            TestMember b = bench.member(bench.settings(front.address(), layout, Bench.REQUEST_TIMEOUT));
            assertThat(a.queue("unanswered", 1, 1).permits()).isEqualTo(1);
            front.loseNextAnswer("/v1/txn", "/m_");
            assertThat(TestMember.failure(b.ask("unanswered", 1, 1, 1)).isPermanent())
                    .isFalse();
            a.keep("unanswered", 1, 0);
            await().untilAsserted(() -> assertThat(b.grants()).hasSize(1));

            b.keep("unanswered", 1, 0);

            assertThat(probe.keys(bench.prefix()))
                    .extracting(ConsulProbe.Key::name)
                    .noneMatch(name -> name.endsWith("/unanswered"));
        }
    }

    @Test
    void requestThatCannotEvenBeSentFailsTheCall() {
        try (Bench bench = new Bench(
                URI.create("http://127.0.0.1:70000"), SharedConsul.get().probe())) {
            TestMember a = bench.member();
            assertThat(TestMember.failure(a.ask("unsent", 1, 1, 1))).hasMessageContaining("Consul");
            assertThat(TestMember.failure(a.ask("unsent", 1, 1, 1))).hasMessageContaining("Consul");
        }
    }

    @Test
    void answerOfTenMegabytesIsCutOff() {
        try (ConsulFront front = new ConsulFront(SharedConsul.get().address());
                Bench bench = new Bench(front.address(), SharedConsul.get().probe())) {
            TestMember a = bench.member();
            a.queue("other", 1, 1);
            front.answer("/v1/txn", 200, " ".repeat(10 << 20));

            assertThat(TestMember.failure(a.ask("huge", 1, 1, 1))).hasMessageContaining("longer than");
        }
    }

    @Test
    void brokenWatchIsRepeatedWithPauses() {
        try (ConsulFront front = new ConsulFront(SharedConsul.get().address());
                Bench bench = new Bench(front.address(), SharedConsul.get().probe())) {
            front.answer("/.inbox/", 500, "no leader");
            TestMember a = bench.member();
            TestMember b = bench.member();
            a.queue("watch", 1, 1);
            b.queue("watch", 1, 1);
            await().until(() -> watches(front) >= 6);
            assertThat(watches(front)).isLessThan(50);
            a.keep("watch", 1, 0);

            front.behave();

            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(b.grants()).hasSize(1));
            assertThat(b.losses()).isZero();
        }
    }

    private static long watches(ConsulFront front) {
        return front.requests().stream().filter(r -> r.contains("recurse")).count();
    }
}
