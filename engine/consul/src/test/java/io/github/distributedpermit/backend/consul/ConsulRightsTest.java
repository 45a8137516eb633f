package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.ConsulServer;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The policy that docs/security.md gives to permits: as much as they use, and no more. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsulRightsTest {

    private static final String MASTER = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa";
    private static final Path DOCUMENT = Path.of("..", "..", "docs", "security.md");

    private final ConsulServer server = ConsulServer.startWithAccessControl(MASTER);
    private final ConsulProbe master = server.probe().with(MASTER);
    private final Bench bench = new Bench(server.address(), master);

    @BeforeAll
    void serverIsThere() {
        assertThat(master.sessions()).isEmpty();
    }

    @AfterAll
    void stop() {
        bench.close();
        server.close();
    }

    @Test
    void membersAskForSessionsAndKeysUnderTheirPrefixAndForNothingElse() throws IOException {
        assertThat(rules()).hasSize(2).anyMatch(r -> r.startsWith("key_prefix")).anyMatch(r -> r.startsWith("session"));
        try (ConsulFront front = new ConsulFront(SharedConsul.get().address());
                Bench recorded = new Bench(front.address(), SharedConsul.get().probe())) {
            live(recorded, recorded.settings(Optional.empty(), Duration.ofSeconds(15)));

            assertThat(front.requests())
                    .anyMatch(request -> request.contains("/v1/txn"))
                    .allMatch(request -> request.matches("PUT /v1/session/(create|renew|destroy)\\b.*")
                            || request.matches("PUT /v1/txn(\\?consistent)?") // a slow member checks what it holds
                            || request.startsWith("GET /v1/session/info/")
                            || request.startsWith("GET /v1/kv/" + recorded.prefix() + "/.inbox/"));
        }
    }

    @Test
    void tokenOfExactlyThisPolicyLivesAWholeLife() throws IOException {
        live(bench, with(String.join(" ", rules())));
    }

    @Test
    void everyRuleThatIsMissingIsToldAsAMissingRight() throws IOException {
        for (String rule : rules()) {
            TestMember member = bench.member(with(rule));
            PermitStoreException refused = TestMember.failure(member.ask("denied", 1, 1, 1));

            assertThat(refused.isPermanent()).as(rule).isTrue();
            assertThat(refused).hasMessageContaining("ACL token").hasMessageContaining("policy");
        }
    }

    /** Consul answers a token without the right to read as if there were no keys. */
    @Test
    void rightsThatAreTakenAwayAndGivenBackCostNoPermit() throws IOException {
        String rules = String.join(" ", rules()).replace("distributed-permit", bench.prefix());
        ConsulProbe.Policy policy = master.newPolicy(rules);
        TestMember a = bench.member(bench.settings(Optional.of(master.newToken(policy)), ConsulSettings.SHORTEST_TTL));
        a.queue("taken", 1, 1);
        List<ConsulProbe.Session> sessions = bench.sessions(a);

        master.change(policy, "session_prefix \"\" { policy = \"write\" }");
        // has the blocking query answered, which then finds no key
        master.put(
                "kv/"
                        + sessions.stream()
                                .map(s -> bench.prefix() + "/.inbox/" + s.id())
                                .findFirst()
                                .orElseThrow() + "/x",
                "");
        await().untilAsserted(() ->
                assertThat(TestMember.failure(a.ask("denied", 1, 1, 1))).isNotNull());
        int signs = a.signs();
        await().atMost(Duration.ofSeconds(30)).until(() -> a.signs() > signs + 1);

        assertThat(a.losses()).isZero();
        master.change(policy, rules);
        await().atMost(Duration.ofSeconds(30))
                .ignoreExceptions()
                .until(() -> a.ask("given-back", 1, 1, 1).get().permits() == 1);
        assertThat(a.losses()).isZero();
        assertThat(bench.sessions(a)).isEqualTo(sessions);
    }

    @Test
    void rotatedTokenIsUsedFromThenOn() throws IOException {
        String rules = String.join(" ", rules()).replace("distributed-permit", bench.prefix());
        String old = master.newToken(rules);
        AtomicReference<Optional<String>> token = new AtomicReference<>(Optional.of(old));
        TestMember a = bench.member(bench.settings(token::get, ConsulSettings.SHORTEST_TTL));
        a.queue("rotated", 1, 1);
        List<ConsulProbe.Session> sessions = bench.sessions(a);

        token.set(Optional.of(master.newToken(rules)));
        master.revokeToken(old);

        assertThat(a.keep("rotated", 1, 1).permits()).isEqualTo(1);
        assertThat(a.queue("other", 1, 1).permits()).isEqualTo(1);
        int signs = a.signs();
        await().atMost(Duration.ofSeconds(30)).until(() -> a.signs() > signs + 1);
        assertThat(a.losses()).isZero();
        assertThat(bench.sessions(a)).isEqualTo(sessions);
    }

    @Test
    void rightToReadAloneIsNotEnoughAndNothingLooksFree() throws IOException {
        TestMember member = bench.member(with(String.join(" ", rules()).replace("write", "read")));
        assertThat(TestMember.failure(member.ask("denied", 1, 1, 1)).isPermanent())
                .isTrue();
    }

    /** All that a member ever asks an agent for; its session is renewed by the expiry tests. */
    private static void live(Bench bench, ConsulSettings settings) {
        TestMember a = bench.member(settings);
        TestMember b = bench.member(settings);
        a.queue("rights", 1, 1);
        b.queue("rights", 1, 1);
        a.keep("rights", 1, 0);
        await().untilAsserted(() -> assertThat(b.grants()).hasSize(1));
        a.queue("rights", 1, 1);
        done(b.store().override("rights", OverrideLimit.of(2)).toCompletableFuture());
        await().untilAsserted(() -> assertThat(a.grants()).hasSize(1));
        done(b.store().override("rights", OverrideLimit.empty()).toCompletableFuture());
        assertThat(done(a.store().inspect("rights").toCompletableFuture()).used())
                .isEqualTo(2);
        a.close();
        b.close();
        // A session that was not ended at once lives for up to twice its TTL of 15 s.
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            assertThat(bench.keys("rights")).isEmpty();
            assertThat(bench.sessions(a)).isEmpty();
        });
    }

    private static <T> T done(CompletableFuture<T> answer) {
        return answer.orTimeout(20, TimeUnit.SECONDS).join();
    }

    private ConsulSettings with(String policy) {
        String token = master.newToken(policy.replace("distributed-permit", bench.prefix()));
        return bench.settings(Optional.of(token), Duration.ofSeconds(15));
    }

    private static List<String> rules() throws IOException {
        return Pattern.compile("(?m)^ *((?:key|session)_prefix \".*\" \\{ policy = \"write\" })$")
                .matcher(Files.readString(DOCUMENT))
                .results()
                .map(result -> result.group(1))
                .toList();
    }
}
