package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.awaitility.Awaitility;

/** A backend that gives each member a client, and so a session, of its own, as if each were a process. */
final class Clients implements PermitBackend, AutoCloseable {

    private static final int CONNECTION_MILLIS = 5_000;

    private final Map<PermitStore, CuratorFramework> clients = new IdentityHashMap<>();
    private final String connectString;
    private final ZooKeeperSettings settings;

    Clients(String connectString, String root, Duration session, Duration idle) {
        this.connectString = connectString;
        this.settings = new ZooKeeperSettings(root, session, idle);
    }

    @Override
    public String name() {
        return ZooKeeperPermitBackend.NAME;
    }

    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        CuratorFramework client = connect(connectString, settings.sessionTimeout(), false);
        PermitStore store = new ZooKeeperPermitBackend(client, settings).join(member, listener);
        clients.put(store, client);
        awaitSession(store);
        return store;
    }

    /** So that a test which counts or hurries does not meet a client that is still connecting. */
    static void awaitSession(PermitStore store) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .ignoreExceptions()
                .until(() -> store.inspect("ready").toCompletableFuture().get(5, TimeUnit.SECONDS) != null);
    }

    static CuratorFramework connect(String connectString, Duration session, boolean readOnly) {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(connectString)
                .sessionTimeoutMs((int) session.toMillis())
                .connectionTimeoutMs(CONNECTION_MILLIS)
                .retryPolicy(new RetryForever(100))
                .canBeReadOnly(readOnly)
                .build();
        client.start();
        return client;
    }

    CuratorFramework of(PermitStore store) {
        CuratorFramework client = clients.get(store);
        if (client == null) {
            throw new IllegalArgumentException("No store of ours");
        }
        return client;
    }

    /** A client sleeps a tenth of a second when it is closed. */
    private static void inAThread(Runnable task) {
        new Thread(task, "closing").start();
    }

    @Override
    public void close() {
        CompletableFuture<?>[] closings = clients.values().stream()
                .map(client -> CompletableFuture.runAsync(client::close, Clients::inAThread))
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(closings).join();
    }
}
