package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.testsupport.Logged;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A proxy before Consul answers for itself. Such an answer renews no session and ends none. */
@Execution(ExecutionMode.CONCURRENT) // each has a front and a prefix of its own, and mostly waits for renewals
class ForeignAnswersTest {

    private static final Duration SOON = Duration.ofMinutes(1);
    private static final Duration TTL = Duration.ofSeconds(15);
    private static final String PAGE = "<html>404 page not found / 403 permission denied / maintenance</html>";

    private final ConsulFront front = new ConsulFront(SharedConsul.get().address());
    private final Bench bench = new Bench(front.address(), SharedConsul.get().probe());
    private final TestMember member = bench.member(bench.settings(Optional.empty(), TTL));

    @AfterEach
    void leave() {
        front.behave();
        bench.close();
        front.close();
    }

    private long requests(String path) {
        return front.requests().stream()
                .filter(request -> request.contains(path))
                .count();
    }

    /** Consul would hold the present one for half a minute. */
    private void endBlockingQuery() {
        String session = bench.sessions(member).get(0).id();
        SharedConsul.get().probe().put("kv/" + bench.prefix() + "/.inbox/" + session + "/notice", "{}");
    }

    private void awaitMore(int count, String path) {
        long before = requests(path);
        await().atMost(SOON).until(() -> requests(path) >= before + count);
    }

    @ParameterizedTest
    @ValueSource(strings = {PAGE, "[]", "[{\"ID\":\"11111111-1111-1111-1111-111111111111\"}]"})
    void successThatDoesNotNameTheSessionRenewsNothing(String body) {
        member.queue("held", 1, 1);
        front.answer("/v1/session/renew/", 200, body);
        awaitMore(1, "/v1/session/renew/");
        int signs = member.signs();

        awaitMore(2, "/v1/session/renew/");

        assertThat(member.signs()).isEqualTo(signs);
        assertThat(member.losses()).isZero();
        front.behave();
        await().atMost(SOON).until(() -> member.signs() > signs);
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 302, 403, 404, 503})
    void pageForEveryRequestCostsNoPermitAndNoWaitingCall(int status) {
        member.queue("held", 1, 1);
        List<ConsulProbe.Session> sessions = bench.sessions(member);
        front.answer("/v1/", status, PAGE);

        CompletableFuture<Holding> claim = member.ask("other", 1, 1, 1);

        assertThat(TestMember.failure(claim).isPermanent()).isFalse();
        endBlockingQuery();
        awaitMore(2, "/.inbox/");
        awaitMore(2, "/v1/session/renew/");
        assertThat(member.losses()).isZero();
        assertThat(bench.sessions(member)).isEqualTo(sessions);
        front.behave();
        await().atMost(SOON)
                .ignoreExceptions()
                .until(() -> member.ask("other", 1, 1, 1).get().permits() == 1);
        assertThat(member.keep("held", 1, 1).permits()).isEqualTo(1);
        assertThat(member.losses()).isZero();
    }

    /** The transaction that could confirm a loss reaches Consul, which has the session. */
    @ParameterizedTest
    @ValueSource(strings = {"/v1/session/renew/", "/.inbox/"})
    void pageForOneKindOfRequestIsNoLoss(String path) {
        member.queue("held", 1, 1);
        front.answer(path, 404, PAGE);
        endBlockingQuery();

        awaitMore(3, path);

        assertThat(member.losses()).isZero();
    }

    @Test
    void logSaysThatSomethingElseAnsweredWithStatusAndAddress() {
        try (Logged log = new Logged(ConsulApi.class)) {
            member.queue("held", 1, 1);
            front.answer("/v1/", 200, PAGE);

            log.awaitText("Something other than Consul", "200", front.address().toString(), "maintenance");
        }
    }

    /** As the others, but the text fits none of the operations of the transaction. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"Results\":[]}",
                "{\"Errors\":[{\"OpIndex\":70,\"What\":\"key does not exist\"}]}",
                "{\"Results\":[{\"KV\":{\"Key\":\"x\",\"Flags\":0,\"ModifyIndex\":1}}]}"
            })
    void jsonThatIsNoAnswerToTheTransactionIsNone(String body) {
        member.queue("held", 1, 1);
        front.answer("/v1/txn", 200, body);

        assertThat(TestMember.failure(member.ask("other", 1, 1, 1)).isPermanent())
                .isFalse();

        front.behave();
        await().atMost(SOON)
                .ignoreExceptions()
                .until(() -> member.ask("other", 1, 1, 1).get().permits() == 1);
        assertThat(member.losses()).isZero();
    }
}
