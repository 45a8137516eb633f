package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.SilentCore;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is done to a member's node is reported by its watch, also if the connection broke when the member first came to the
 * key. There is no core here, and so no re-check that would find out in its place.
 */
class WatchTest {

    private static final Duration SESSION = Servers.LONG_SESSION;
    private static final String ROOT = "/watch";
    private static final String KEY = "export";

    private final TestingServer server = Servers.single(Servers.LONG_TICK_MILLIS);
    private final TcpProxy wire = new TcpProxy(server.getPort());
    private final Clients frailClient = new Clients(wire.connectString(), ROOT, SESSION, Duration.ofMinutes(1));
    private final Clients soundClient = new Clients(server.getConnectString(), ROOT, SESSION, Duration.ofMinutes(1));
    private final Observer observer = new Observer(server.getConnectString(), ROOT);

    private final Heard heard = new Heard();
    private final PermitStore frail = frailClient.join(member(), heard);
    private final PermitStore sound = soundClient.join(member(), new SilentCore());
    private final AtomicLong sequence = new AtomicLong();

    @BeforeEach
    void theRootIsThere() {
        done(claim(sound, "other", 1));
    }

    @AfterEach
    void close() throws Exception {
        frail.close();
        sound.close();
        frailClient.close();
        soundClient.close();
        observer.close();
        wire.close();
        server.close();
    }

    private static Member member() {
        return new Member(UUID.randomUUID().toString(), "test");
    }

    private static ConditionFactory patiently() {
        return await().atMost(Duration.ofSeconds(20)).ignoreExceptions();
    }

    private CompletableFuture<Holding> claim(PermitStore by, String key, int wanted) {
        Claim claim = Claim.of(key, sequence.incrementAndGet(), SESSION)
                .wanted(wanted)
                .queued(wanted);
        return by.claim(claim).toCompletableFuture();
    }

    private static Holding done(CompletableFuture<Holding> claim) {
        return claim.orTimeout(20, TimeUnit.SECONDS).join();
    }

    /** @param arrives whether only the answers are lost, or the claim itself */
    private void comeToTheKeyWhileTheConnectionBreaks(boolean arrives) {
        if (arrives) {
            wire.loseAnswers();
        } else {
            wire.silence();
        }
        CompletableFuture<Holding> lost = claim(frail, KEY, 1);
        if (arrives) {
            patiently().until(() -> !observer.memberNodes(KEY).isEmpty());
        }
        wire.cut();
        assertThat(lost).failsWithin(Duration.ofSeconds(20)).withThrowableOfType(ExecutionException.class);
        wire.mend();
        patiently().until(() -> claim(frail, KEY, 1).get(5, TimeUnit.SECONDS) != null);
    }

    @ParameterizedTest(name = "the claim arrives: {0}")
    @ValueSource(booleans = {true, false})
    void grantIsToldAfterTheFirstClaimMetABrokenConnection(boolean arrives) {
        comeToTheKeyWhileTheConnectionBreaks(arrives);
        done(claim(frail, KEY, 0));
        done(claim(sound, KEY, 1));
        assertThat(done(claim(frail, KEY, 1)).permits()).isZero();

        claim(sound, KEY, 0);

        patiently().untilAsserted(() -> assertThat(heard.permits).containsExactly(1));
    }

    @ParameterizedTest(name = "the claim arrives: {0}")
    @ValueSource(booleans = {true, false})
    void deletionIsToldAfterTheFirstClaimMetABrokenConnection(boolean arrives) {
        comeToTheKeyWhileTheConnectionBreaks(arrives);
        List<String> own = observer.memberNodes(KEY);
        assertThat(own).hasSize(1);

        observer.delete(own.get(0));

        patiently().untilAsserted(() -> assertThat(heard.permits).endsWith(0));
    }

    /** Nodes are named once, so that a watch which stayed would serve nothing until the end of the session. */
    @Test
    void watchGoesWithANodeThatWasDeletedByAnOperator() throws Exception {
        done(claim(frail, KEY, 1));
        String own = observer.memberNodes(KEY).get(0);
        assertThat(watches()).contains(own);

        observer.delete(own);

        patiently().untilAsserted(() -> assertThat(heard.permits).endsWith(0));
        patiently().untilAsserted(() -> assertThat(watches()).doesNotContain(own));
    }

    /** An idle key is released soon here. */
    @Test
    void watchGoesWithTheNodeOfAReleasedKey() throws Exception {
        try (Clients hasty = new Clients(server.getConnectString(), ROOT, SESSION, TestProcess.IDLE);
                PermitStore store = hasty.join(member(), new SilentCore())) {
            done(claim(store, KEY, 1));
            String own = observer.memberNodes(KEY).get(0);
            assertThat(watches()).contains(own);

            done(claim(store, KEY, 0));

            patiently()
                    .untilAsserted(() -> assertThat(observer.memberNodes(KEY)).isEmpty());
            patiently().untilAsserted(() -> assertThat(watches()).doesNotContain(own));
        }
    }

    private List<String> watches() throws Exception {
        return FourLetterWordMain.send4LetterWord("127.0.0.1", server.getPort(), "wchp")
                .lines()
                .toList();
    }

    private static final class Heard extends SilentCore {

        private final List<Integer> permits = new CopyOnWriteArrayList<>();

        @Override
        public void granted(String key, Holding holding) {
            permits.add(holding.permits());
        }
    }
}
