package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.SnapshotPermitStore;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.LongSupplier;
import org.apache.curator.framework.CuratorFramework;

/**
 * Permits on a ZooKeeper ensemble of version 3.6 or later. The limit holds among all members with the same ensemble,
 * namespace and root. Thread-safe.
 *
 * <p>A member lives by the session of the client it was given, and shares it with whoever else uses that client. It never
 * blocks the client's event thread; if other code does, answers and notifications are delayed.
 *
 * <p>Each member gets a {@link ZooKeeperSnapshotStore} behind a {@link SnapshotPermitStore}, and one thread for
 * timers that both share.
 */
public final class ZooKeeperPermitBackend implements PermitBackend {

    /** The name of this backend, as in {@code distributed-permit.backend}. */
    public static final String NAME = "zookeeper";

    private final CuratorFramework client;
    private final ZooKeeperSettings settings;
    /** The monotonic clock in nanoseconds, the same that the members use. */
    private final LongSupplier ticker;

    /**
     * Does not talk to the ensemble yet.
     *
     * @param client started; stays the caller's to close, after the stores
     * @param settings {@code sessionTimeout} is what the client asks for
     */
    public ZooKeeperPermitBackend(CuratorFramework client, ZooKeeperSettings settings) {
        this(client, settings, System::nanoTime);
    }

    /** For tests that drive the clock. */
    ZooKeeperPermitBackend(CuratorFramework client, ZooKeeperSettings settings, LongSupplier ticker) {
        this.client = client;
        this.settings = settings;
        this.ticker = ticker;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String address() {
        String servers = client.getZookeeperClient().getCurrentConnectionString();
        // Without the chroot, which is no part of the servers' addresses.
        int path = servers.indexOf('/');
        return path < 0 ? servers : servers.substring(0, path);
    }

    /** The session is that of the client, so that a member joins without a connection of its own. */
    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        ScheduledExecutorService scheduler = scheduler(member);
        return new SnapshotPermitStore<>(
                new ZooKeeperSnapshotStore(client, settings, member, scheduler, ticker),
                member,
                listener,
                ticker,
                scheduler,
                settings.idle());
    }

    /** A daemon thread. Tasks after the close are dropped, because events of the client may still arrive then. */
    private static ScheduledExecutorService scheduler(Member member) {
        ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "distributed-permit-zookeeper-" + member.id());
            thread.setDaemon(true);
            return thread;
        });
        scheduler.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        scheduler.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return scheduler;
    }
}
