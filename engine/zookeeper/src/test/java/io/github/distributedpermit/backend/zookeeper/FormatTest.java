package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.KeyDocument;
import io.github.distributedpermit.spi.snapshot.SilentCore;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** This version beside others: documents as they lie in a store, on a real server. */
class FormatTest {

    private static final TestingServer SERVER = Servers.single(Servers.LONG_TICK_MILLIS);
    private static final Duration SESSION = Servers.LONG_SESSION;
    private static final String ROOT = "/format";

    private final String key = "key-" + UUID.randomUUID();
    private final Observer observer = new Observer(SERVER.getConnectString(), ROOT);
    private final ZooKeeper others = observer.zk();
    private final CuratorFramework client = Clients.connect(SERVER.getConnectString(), SESSION, false);
    private final List<Holding> notified = new CopyOnWriteArrayList<>();
    private final String self = UUID.randomUUID().toString();
    private final PermitStore store = new ZooKeeperPermitBackend(
                    client, new ZooKeeperSettings(ROOT, SESSION, Duration.ofMinutes(1)))
            .join(new Member(self, "test"), new SilentCore() {
                @Override
                public void granted(String granted, Holding holding) {
                    notified.add(holding);
                }
            });
    private long sequence;

    @AfterAll
    static void stopServer() throws IOException {
        SERVER.close();
    }

    @BeforeEach
    void awaitSession() {
        Clients.awaitSession(store);
    }

    @AfterEach
    void leave() {
        store.close();
        client.close();
        observer.close();
    }

    private static String fixture(String name) throws IOException {
        try (InputStream in = FormatTest.class.getResourceAsStream("/zookeeper-formats/" + name)) {
            if (in == null) {
                throw new IOException(name);
            }
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    /** A document with a member that lives. */
    private void stored(String document) throws Exception {
        observer.write(path(), document.getBytes(StandardCharsets.US_ASCII));
        joined("newer-a");
    }

    private String path() {
        return observer.path(key);
    }

    private void joined(String member) throws Exception {
        others.create(path() + "/m-" + member + "-1", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    }

    private List<String> lines() throws Exception {
        return new String(others.getData(path(), false, null), StandardCharsets.US_ASCII)
                .lines()
                .toList();
    }

    private String line(String member) throws Exception {
        return lines().stream()
                .filter(l -> l.startsWith(member + " "))
                .findFirst()
                .orElseThrow();
    }

    private CompletionStage<Holding> sent(int wanted) {
        sequence++;
        return store.claim(Claim.of(key, sequence, SESSION)
                .limit(3)
                .wanted(wanted)
                .queued(wanted)
                .waited(Duration.ofMinutes(1)));
    }

    private Holding claim(int wanted) {
        return done(sent(wanted));
    }

    private static <T> T done(CompletionStage<T> stage) {
        return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
    }

    @Test
    void whatThisVersionWritesIsTheNewestFixture() throws Exception {
        String newest = fixture("format-2.txt");
        List<String> written = newest.replace("4f1cbb36-5d27-4b0a-8f0e-6a3e0f5f0d11", self)
                .lines()
                .toList();
        claim(1);
        assertThat(lines()).first().isEqualTo(written.get(0));
        assertThat(line(self)).as("a member that holds").isEqualTo(written.get(2));

        byte[] bytes = newest.getBytes(StandardCharsets.US_ASCII);
        assertThat(KeyDocument.decode(bytes).encode())
                .asString(StandardCharsets.US_ASCII)
                .isEqualTo(newest);
        assertThat(KeyDocument.decode(bytes).records())
                .extracting(PermitRecord::calls)
                .as("3 permits wanted, and 5 calls beyond")
                .containsExactly(0, 8);
    }

    @Test
    void documentOfTheFirstFormatIsRead() throws Exception {
        String first = fixture("format-1.txt");
        assertThat(KeyDocument.decode(first.getBytes(StandardCharsets.US_ASCII)).encode())
                .asString(StandardCharsets.US_ASCII)
                .isEqualTo(first.replace("distributed-permit 1 1", "distributed-permit 2 1"));
    }

    @Test
    void whatANewerVersionAddedStaysBesideAnOlderOne() throws Exception {
        stored(fixture("format-3-for-readers-of-1.txt"));

        assertThat(claim(1).permits()).isEqualTo(1);

        assertThat(lines())
                .startsWith("distributed-permit 3 1 region=eu", "8 - priority")
                .contains("newer-a 2 41 5 2 0 2 3 - 0 0.75 blue")
                .endsWith("+shares newer-a:2")
                .hasSize(5);
        assertThat(done(store.inspect(key)).used()).isEqualTo(3);
        claim(0);
        assertThat(lines())
                .containsExactly(
                        "distributed-permit 3 1 region=eu",
                        "9 - priority",
                        "newer-a 2 41 5 2 0 2 3 - 0 0.75 blue",
                        "+shares newer-a:2");
    }

    @Test
    void newerMemberIsServedByAnOlderOne() throws Exception {
        stored(fixture("format-3-for-readers-of-1.txt"));
        claim(1);
        joined("newer-b");
        String queued = String.join("\n", lines()).replace("\n8 -", "\n9 -") + "\nnewer-b 0 42 9 1 1 1 3 9 0 1.5\n";
        others.setData(path(), queued.getBytes(StandardCharsets.US_ASCII), -1);

        claim(0);

        assertThat(line("newer-b")).matches("newer-b 1 42 \\d+ 1 1 1 3 - 0 1.5");
        assertThat(others.getData(path() + "/m-newer-b-1", false, null))
                .asString(StandardCharsets.US_ASCII)
                .matches("2 1 1 3 42 \\d+ false false");
    }

    @Test
    void olderMemberIsServedByANewerOne() throws Exception {
        stored(fixture("format-3-for-readers-of-1.txt").replace("newer-a 2 41 5 2", "newer-a 3 41 5 3"));
        Holding queued = claim(1);
        assertThat(queued.permits()).isZero();
        String node = path() + "/m-" + self + "-1";
        long later = queued.version() + 1;
        String future = "4 3 one field";
        String newer = "3 1 1 3 " + sequence + " " + later + " true false 0.5";

        others.setData(node, future.getBytes(StandardCharsets.US_ASCII), -1);
        others.setData(node, newer.getBytes(StandardCharsets.US_ASCII), -1);

        await().atMost(Duration.ofSeconds(20)).until(() -> !notified.isEmpty());
        assertThat(notified.get(0).permits()).isEqualTo(1);
        assertThat(notified.get(0).version()).isEqualTo(later);
        assertThat(notified.get(0).others().contended()).isTrue();
    }

    @Test
    void documentThatNeedsANewerReaderIsLeftAlone() throws Exception {
        String document = fixture("format-4-for-readers-of-3.txt");
        stored(document);
        Stat before = others.exists(path(), false);

        for (CompletionStage<?> refused :
                List.of(sent(1), sent(0), store.override(key, OverrideLimit.of(1)), store.inspect(key))) {
            assertThatThrownBy(() -> done(refused)).cause().satisfies(e -> {
                assertThat(e).isInstanceOf(PermitStoreException.class);
                assertThat(((PermitStoreException) e).isPermanent()).isTrue();
                assertThat(e)
                        .hasMessageContaining(path())
                        .hasMessageContaining("format 4")
                        .hasMessageContaining("knows format 3")
                        .hasMessageContaining("knows 2")
                        .hasMessageContaining("Update this instance");
            });
        }
        try (TestProcess process = new TestProcess(SERVER.getConnectString(), ROOT, SESSION)) {
            NamedPermits permits = process.permits(key, 3);
            assertThatThrownBy(() -> permits.acquire(key))
                    .isInstanceOf(PermitBackendException.class)
                    .hasStackTraceContaining("knows format 3");
        }

        Stat after = others.exists(path(), false);
        assertThat(after.getMzxid()).isEqualTo(before.getMzxid());
        assertThat(after.getPzxid()).isEqualTo(before.getPzxid());
        assertThat(others.getData(path(), false, null))
                .asString(StandardCharsets.US_ASCII)
                .isEqualTo(document);
    }

    @Test
    void holderThatIsTooOldForItsKeyWritesNothing() throws Exception {
        claim(1);
        List<String> lines = lines();
        String raised = "distributed-permit 3 3\n" + String.join("\n", lines.subList(1, lines.size())) + "\n";
        Stat written = others.setData(path(), raised.getBytes(StandardCharsets.US_ASCII), -1);

        assertThatThrownBy(() -> claim(0)).hasMessageContaining("knows format 3");

        assertThat(others.exists(path(), false).getMzxid()).isEqualTo(written.getMzxid());
    }
}
