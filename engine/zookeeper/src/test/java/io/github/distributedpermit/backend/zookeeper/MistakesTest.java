package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.KeyDocument;
import io.github.distributedpermit.spi.snapshot.PlannedCommit;
import io.github.distributedpermit.spi.snapshot.SilentCore;
import io.github.distributedpermit.spi.snapshot.StoreSession;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.Step;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Mistakes that earlier attempts at this backend made, or were about to make; the contract has the others. */
class MistakesTest {

    private static final TestingServer SERVER = Servers.single(Servers.LONG_TICK_MILLIS);
    private static final Duration SESSION = Servers.LONG_SESSION;
    private static final Duration SHORT_SESSION = Duration.ofSeconds(4);
    private static final String ROOT = "/mistakes";

    private long sequence;
    private final List<TestProcess> processes = new ArrayList<>();
    private final Observer observer = new Observer(SERVER.getConnectString(), ROOT);

    @AfterAll
    static void stopServer() throws IOException {
        SERVER.close();
    }

    @AfterEach
    void nothingIsLeft() {
        processes.forEach(TestProcess::close);
        await().atMost(Duration.ofSeconds(40))
                .untilAsserted(() -> assertThat(observer.tree()).isEmpty());
        observer.close();
    }

    private TestProcess process() {
        return process(SERVER.getConnectString(), SESSION);
    }

    private TestProcess process(String connectString, Duration session) {
        TestProcess process = new TestProcess(connectString, ROOT, session);
        processes.add(process);
        return process;
    }

    /** Reading the members before the document takes one that joins in between for dead: 4 and 5 holders of 3. */
    @Test
    void memberThatJoinsBetweenTheTwoReadsIsNotTakenForDead() {
        try (CountingClient first = new CountingClient(SERVER.getConnectString(), SESSION);
                CountingClient reading = new CountingClient(SERVER.getConnectString(), SESSION);
                CountingClient joining = new CountingClient(SERVER.getConnectString(), SESSION);
                PermitStore known = join(first);
                PermitStore reader = join(reading);
                PermitStore joiner = join(joining)) {
            claim(known, 1);
            claim(known, 0);
            AtomicInteger joined = new AtomicInteger();
            reading.betweenReads(() -> joined.set(claim(joiner, 1)));

            assertThat(claim(reader, 1)).isZero();

            assertThat(joined).hasValue(1);
            assertThat(observer.look("joined").used()).isEqualTo(1);
        }
    }

    private static PermitStore join(CountingClient client) {
        PermitStore joined = new ZooKeeperPermitBackend(
                        client.curator(), new ZooKeeperSettings(ROOT, SESSION, TestProcess.IDLE))
                .join(new Member(UUID.randomUUID().toString(), "test"), new SilentCore());
        Clients.awaitSession(joined);
        return joined;
    }

    private int claim(PermitStore by, int wanted) {
        sequence++;
        Claim claim = Claim.of("joined", sequence, SESSION).wanted(wanted);
        return by.claim(claim)
                .toCompletableFuture()
                .orTimeout(20, TimeUnit.SECONDS)
                .join()
                .permits();
    }

    /** Members come and go all the time, and never are there more than three inside. */
    @Test
    void limitHoldsWhileMembersComeAndGo() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<CompletableFuture<Void>> calls = new ArrayList<>();
        for (int p = 0; p < 4; p++) {
            TestProcess process = process();
            for (int call = 0; call < 60; call++) {
                calls.add(process.permits("busy", 3)
                        .acquireAsync(PermitRequest.of("busy"))
                        .thenAccept(permit -> {
                            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                            inside.decrementAndGet();
                            permit.release();
                        }));
            }
        }
        CompletableFuture.allOf(calls.toArray(CompletableFuture<?>[]::new))
                .orTimeout(120, TimeUnit.SECONDS)
                .join();
        assertThat(most.get()).isBetween(1, 3);
    }

    /** The document vanished and was made anew: same path, same version, other holders. */
    @Test
    void documentMadeAnewUnderTheSameVersionIsNotTakenForTheOldOne() throws Exception {
        String root = ROOT + "-anew";
        try (CountingClient client = new CountingClient(SERVER.getConnectString(), SESSION)) {
            Nodes nodes = new Nodes(client.curator(), root);
            String path = nodes.path("anew");
            ZooKeeper zk = observer.zk();
            zk.create(root, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            for (List<String> children : List.of(List.of("m-other-1"), List.<String>of())) {
                NodeSnapshot old = document(nodes, path, children);
                await().atMost(Duration.ofSeconds(20)).until(() -> vanished(path, children));
                NodeSnapshot anew = document(nodes, path, List.of("m-them-1"));
                assertThat(anew.nodeVersion()).isEqualTo(old.nodeVersion());

                Claim claim = Claim.of("anew", 1, SESSION).wanted(1);
                KeyTable table = old.table();
                Step step = table.claim("me", claim, old.version(), 0);
                PlannedCommit<NodeSnapshot> planned = new PlannedCommit<>(
                        "anew", new StoreSession("me", 1), old, table, step, false, Optional.of(claim), true);
                CompletableFuture<Stat> commit =
                        nodes.commit(zk, new NodeTransaction(planned, nodes, path).operations(null, "m-me-1"));

                assertThat(commit)
                        .failsWithin(Duration.ofSeconds(20))
                        .withThrowableThat()
                        .matches(e -> e.getCause() != null && Faults.isConflict(e.getCause()));
                assertThat(nodes.read(zk, path).join()).isEqualTo(anew);
                vanished(path, List.of("m-them-1"));
            }
        }
    }

    /** Made with one write after its birth, as a claim does. */
    private NodeSnapshot document(Nodes nodes, String path, List<String> children) throws Exception {
        ZooKeeper zk = observer.zk();
        zk.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        zk.setData(path, KeyDocument.EMPTY.encode(), 0);
        for (String child : children) {
            zk.create(path + "/" + child, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        }
        return nodes.read(zk, path).join();
    }

    private boolean vanished(String path, List<String> children) {
        children.forEach(child -> observer.delete(path + "/" + child));
        observer.delete(path);
        return true;
    }

    /** Versions restart with the node; what the core and the token see must not. */
    @Test
    void tokensRiseAcrossTheEndOfAKey() throws Exception {
        TestProcess process = process();
        Permit first = process.permits("tokens", 1).acquire("tokens");
        first.release();
        await().atMost(Duration.ofSeconds(30)).until(() -> observer.tree().isEmpty());

        Permit second = process().permits("tokens", 1).acquire("tokens");

        assertThat(second.token()).isGreaterThan(first.token());
        second.release();
    }

    /** The classic recipe woke every waiter. Here each member watches its own node only. */
    @Test
    void nobodyIsWokenButByTheOwnNode() throws Exception {
        Permit permit = process().permits("herd", 1).acquire("herd");
        List<CompletableFuture<Permit>> waiting = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            int queued = i;
            waiting.add(process().permits("herd", 1).acquireAsync(PermitRequest.of("herd")));
            await().atMost(Duration.ofSeconds(20)).until(() -> observer.waiting("herd") == queued);
        }

        List<String> watched = FourLetterWordMain.send4LetterWord("127.0.0.1", SERVER.getPort(), "wchp")
                .lines()
                .filter(line -> !line.isBlank())
                .toList();

        assertThat(watched).filteredOn(line -> line.startsWith(ROOT)).hasSize(6).allMatch(line -> line.contains("/m-"));
        for (int i = 0; i < watched.size(); i++) {
            if (watched.get(i).startsWith(ROOT)) {
                assertThat(watched.get(i + 1)).as("the only one").startsWith("\t");
                assertThat(i + 2 == watched.size() || !watched.get(i + 2).startsWith("\t"))
                        .as("one watcher of %s", watched.get(i))
                        .isTrue();
            }
        }
        permit.release();
        for (CompletableFuture<Permit> next : waiting) {
            next.orTimeout(20, TimeUnit.SECONDS).join().release();
        }
    }

    /** A waiter that has died is served while its session lives. The permit sleeps that long, and no longer. */
    @Test
    void permitServedToTheDeadComesBackWithTheEndOfItsSession() throws Exception {
        try (TcpProxy wire = new TcpProxy(SERVER.getPort())) {
            Permit permit = process().permits("dead", 1).acquire("dead");
            TestProcess dying = process(wire.connectString(), SHORT_SESSION);
            dying.permits("dead", 1).acquireAsync(PermitRequest.of("dead"));
            await().atMost(Duration.ofSeconds(20)).until(() -> observer.waiting("dead") == 1);
            CompletableFuture<Permit> next = process().permits("dead", 1).acquireAsync(PermitRequest.of("dead"));
            await().atMost(Duration.ofSeconds(20)).until(() -> observer.waiting("dead") == 2);
            wire.silence();
            long died = System.nanoTime();

            permit.release();
            next.orTimeout(60, TimeUnit.SECONDS).join().release();

            Duration asleep = Duration.ofNanos(System.nanoTime() - died);
            System.getLogger(MistakesTest.class.getName())
                    .log(System.Logger.Level.INFO, "served while dead: {0} of a session of {1}", asleep, SHORT_SESSION);
            assertThat(asleep).isLessThan(SHORT_SESSION.plusSeconds(20));
            wire.mend();
        }
    }

    @Test
    void documentOfAStrangerIsToldFromOurs() {
        byte[] ours = KeyDocument.EMPTY.encode();
        assertThat(KeyDocument.decode(ours)).isEqualTo(KeyDocument.EMPTY);
        for (String strange : List.of("", "{}", "distributed-permit 1\n0 -\n", "distributed-permit 1 1\nx -\n")) {
            Optional<KeyDocument> read = Optional.empty();
            try {
                read = Optional.of(KeyDocument.decode(strange.getBytes(StandardCharsets.US_ASCII)));
            } catch (IllegalArgumentException e) {
                // as it should be
            }
            assertThat(read).as(strange).isEmpty();
        }
    }
}
