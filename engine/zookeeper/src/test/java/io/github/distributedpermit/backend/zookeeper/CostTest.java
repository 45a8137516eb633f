package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.SilentCore;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a claim costs, counted at the client. */
class CostTest {

    private static final TestingServer SERVER = Servers.single(Servers.LONG_TICK_MILLIS);
    private static final Duration SESSION = Servers.LONG_SESSION;
    private static final ZooKeeperSettings SETTINGS = new ZooKeeperSettings("/cost", SESSION, Duration.ofMinutes(1));

    private final CountingClient client = new CountingClient(SERVER.getConnectString(), SESSION);
    private final PermitStore store = join(client);
    private long sequence;

    @AfterAll
    static void stopServer() throws IOException {
        SERVER.close();
    }

    @AfterEach
    void leave() {
        store.close();
        client.close();
    }

    private static PermitStore join(CountingClient client) {
        PermitStore joined = new ZooKeeperPermitBackend(client.curator(), SETTINGS)
                .join(new Member(UUID.randomUUID().toString(), "test"), new SilentCore());
        Clients.awaitSession(joined);
        return joined;
    }

    private Holding claim(PermitStore by, String key, int wanted, boolean queue) {
        return send(by, key, wanted, queue).orTimeout(20, TimeUnit.SECONDS).join();
    }

    private CompletableFuture<Holding> send(PermitStore by, String key, int wanted, boolean queue) {
        sequence++;
        Claim claim = Claim.of(key, sequence, SESSION).wanted(wanted).queued(queue ? 1 : 0);
        return by.claim(claim).toCompletableFuture();
    }

    @Test
    void firstUseOfAKeyIsOneWriteAndNoRead() {
        int reads = client.reads();
        int writes = writesAfterTheRootIsThere();

        assertThat(claim(store, "first", 1, true).permits()).isEqualTo(1);

        assertThat(client.writes() - writes).isEqualTo(1);
        assertThat(client.reads() - reads).isZero();
    }

    private int writesAfterTheRootIsThere() {
        try (CountingClient before = new CountingClient(SERVER.getConnectString(), SESSION)) {
            PermitStore other = join(before);
            claim(other, "root-" + UUID.randomUUID(), 1, true);
            int writes = client.writes();
            // its node keeps the root alive while the other store is open
            assertThat(claim(store, "warm-" + UUID.randomUUID(), 1, true).permits())
                    .isEqualTo(1);
            assertThat(client.writes() - writes).isEqualTo(1);
            other.close();
        }
        return client.writes();
    }

    @Test
    void uncontendedPairIsTwoWritesAndNoRead() {
        claim(store, "pair", 1, true);
        claim(store, "pair", 0, false);
        int writes = client.writes();
        int reads = client.reads();

        for (int pair = 0; pair < 10; pair++) {
            assertThat(claim(store, "pair", 1, true).permits()).isEqualTo(1);
            assertThat(claim(store, "pair", 0, false).permits()).isZero();
        }

        assertThat(client.writes() - writes).isEqualTo(20);
        assertThat(client.reads() - reads).isZero();
    }

    /** Each answer brings the return and the next claim, so that no thread can send the return before the claim comes. */
    @Test
    void returnAndClaimAtOnceAreOneReadAndNoWrite() throws Exception {
        claim(store, "loop", 1, true);
        claim(store, "loop", 0, false);
        int writes = client.writes();
        int reads = client.reads();

        CompletableFuture<Holding> first = new CompletableFuture<>();
        CompletableFuture<Holding> answer = first;
        for (int pair = 0; pair < 10; pair++) {
            answer = answer.thenCompose(held -> {
                assertThat(held.permits()).isEqualTo(1);
                send(store, "loop", 0, false);
                return send(store, "loop", 1, true);
            });
        }
        // The first claim as well is sent by the thread that answers.
        client.curator()
                .getZookeeperClient()
                .getZooKeeper()
                .sync("/", (code, path, context) -> send(store, "loop", 1, true).thenAccept(first::complete), null);

        assertThat(answer.orTimeout(20, TimeUnit.SECONDS).join().permits()).isEqualTo(1);
        assertThat(client.writes() - writes).isEqualTo(1);
        assertThat(client.reads() - reads).isEqualTo(2 * 10); // the document and its children
    }

    @Test
    void refusedTryWritesNothing() {
        try (CountingClient busy = new CountingClient(SERVER.getConnectString(), SESSION)) {
            PermitStore holder = join(busy);
            claim(holder, "taken", 1, true);
            claim(store, "taken", 1, false); // has to find out that the key is in use
            int writes = client.writes();

            assertThat(claim(store, "taken", 1, false).permits()).isZero();

            assertThat(client.writes() - writes).isZero();
            holder.close();
        }
    }

    /** One failed attempt on what it knew, one reading that shows the change, one that shows none: then it trusts again. */
    @Test
    void memberThatWasAloneAgainNeedsNoReadAgain() {
        claim(store, "shared", 1, true);
        claim(store, "shared", 0, false);
        try (CountingClient passing = new CountingClient(SERVER.getConnectString(), SESSION)) {
            PermitStore other = join(passing);
            claim(other, "shared", 1, true);
            claim(other, "shared", 0, false);
            other.close();
        }
        for (int i = 0; i < 2; i++) {
            claim(store, "shared", 1, true);
            claim(store, "shared", 0, false);
        }
        int reads = client.reads();
        int writes = client.writes();

        assertThat(claim(store, "shared", 1, true).permits()).isEqualTo(1);
        claim(store, "shared", 0, false);

        assertThat(client.reads() - reads).isZero();
        assertThat(client.writes() - writes).isEqualTo(2);
    }
}
