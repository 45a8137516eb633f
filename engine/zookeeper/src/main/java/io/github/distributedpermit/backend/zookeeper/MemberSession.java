package io.github.distributedpermit.backend.zookeeper;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * The session of a member: whether it may be used, until when it is certain to live, and its end. A broken connection is
 * not the end of a session. A session that was not confirmed for nine tenths of its granted length is given up, although
 * the ensemble may still keep it: the core has given up its permits by then, or is about to. The same holds for one whose
 * length was renegotiated to less, because the core has counted on the former length.
 *
 * <pre>
 *   no handle --connected--> unconfirmed --a quorum commits a transaction--> ready
 *       ^                         |                                            |
 *       +-- given up: expired, replaced by Curator, not confirmed in time, or made shorter
 * </pre>
 *
 * <p>Each time it is given up, the epoch changes, so that answers to earlier requests count no longer. Thread-safe; the
 * checks run on the thread of the scheduler. Events are called without locks, except {@code alive}: its confirmation
 * must not arrive after the loss of the session that it confirms.
 *
 * <p>Only a transaction that was committed extends the time for which the session is certain to live: a leader that has lost
 * its quorum answers reads and {@code sync} until it notices, while the others elect a leader that ends the session. The core
 * must stop using permits before the ensemble ends the session; this class ensures it by counting from the time a confirmed
 * request was sent, and by giving the session up early.
 */
final class MemberSession implements ConnectionStateListener {

    /** What follows from the life of the session. Called without locks, except {@link #alive}. */
    interface Events {

        /** Claims may be sent. Called once for each epoch that is confirmed. */
        void ready(Link link);

        /**
         * The connection is back, and the session is the same. Events of watches may have been lost meanwhile, and a
         * watch may not have been set.
         */
        void reconnected(Link link);

        /**
         * As in {@link io.github.distributedpermit.spi.HoldingListener#alive}. Called with the monitor of the session, so
         * that it is ordered with the end of the epoch; must not wait for a lock under which the session is called.
         */
        void alive(long sentAtNanos);

        /**
         * All that was bound to the session is lost. The nodes may still exist, if the ensemble has kept the session.
         */
        void lost();
    }

    /**
     * Requests that prove the session alive, per session. Also the part of the session by which it is given up early.
     */
    private static final int BEATS = 10;
    /** In nanoseconds. */
    private static final long SHORTEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(1);

    private static final System.Logger LOG = System.getLogger(MemberSession.class.getName());

    private final CuratorFramework client;
    private final Nodes nodes;
    /** The length that was asked for, in nanoseconds; the core uses this one. */
    private final long length;

    private final Events events;
    private final ScheduledExecutorService scheduler;
    private final LongSupplier ticker;

    /** Authentication was refused since the client was last connected, which is logged once. Only the scheduler's thread uses it. */
    private boolean refused;

    // guarded by the monitor of this object
    /** The client's connection to the ensemble. Curator replaces it when the session has expired. */
    private @Nullable ZooKeeper handle;
    /** Counts sessions, also those that were given up by this member's clock: answers of an earlier one do not count. */
    private long epoch;
    /** A quorum has confirmed the session, so that claims may be sent. */
    private boolean ready;

    /**
     * Ends with {@link #ready}; replaced when the session is given up. Inspections wait for it; claims do not,
     * because the layer sends none before {@code ready}.
     */
    private CompletableFuture<Link> whenReady = new CompletableFuture<>();
    /** What a quorum has committed in the present session. */
    private LeaderContact contacts;
    /** The length that the ensemble has granted, at most the one asked for. In nanoseconds. All times here follow from it. */
    private long granted;
    /** The periodic check; {@code null} before {@link #begin}. */
    private @Nullable ScheduledFuture<?> checks;
    /** Until when the session certainly lives. On the monotonic clock; only meaningful while the session is ready. */
    private long aliveUntil;

    MemberSession(
            CuratorFramework client,
            Nodes nodes,
            Duration length,
            Events events,
            ScheduledExecutorService scheduler,
            LongSupplier ticker) {
        this.client = client;
        this.nodes = nodes;
        this.length = length.toNanos();
        this.granted = this.length;
        this.contacts = new LeaderContact(this.length);
        this.events = events;
        this.scheduler = scheduler;
        this.ticker = ticker;
    }

    /** Confirms the session for the first time as soon as the client is connected. */
    void begin() {
        client.getConnectionStateListenable().addListener(this);
        checkEvery(length / BEATS);
        run(this::tick);
    }

    /** The former checks end only when the new ones are scheduled, so that an error here leaves one of them. */
    private synchronized void checkEvery(long nanos) {
        long interval = Math.max(SHORTEST_INTERVAL, nanos);
        ScheduledFuture<?> former = checks;
        checks = scheduler.scheduleWithFixedDelay(guarded(this::check), interval, interval, TimeUnit.NANOSECONDS);
        if (former != null) {
            former.cancel(false);
        }
    }

    /**
     * The periodic check ends with the scheduler, which the store shuts down. The session itself belongs to the
     * client of the application, and stays.
     */
    void end() {
        client.getConnectionStateListenable().removeListener(this);
    }

    /** Curator calls it on a thread of its own, which must not be kept; the check runs on the scheduler. */
    @Override
    public void stateChanged(CuratorFramework curator, ConnectionState state) {
        run(() -> {
            tick();
            Link link = link();
            if (state == ConnectionState.RECONNECTED && link != null) {
                events.reconnected(link);
            }
        });
    }

    /**
     * The session to use; {@code null} if there is none that is certain to live. A link of a session that was not
     * confirmed for nine tenths of its length is given out only until the next check, and its answers are refused.
     */
    synchronized @Nullable Link link() {
        return ready && handle != null ? new Link(handle, epoch) : null;
    }

    /** Why claims get no answer now; empty if they do. Never blocks. */
    Optional<String> problem() {
        if (connected() == null) {
            return Optional.of("not connected to a ZooKeeper server");
        }
        return link() == null
                ? Optional.of("no quorum of ZooKeeper servers has confirmed the session yet")
                : Optional.empty();
    }

    /**
     * Ends when there is a session to use. A copy, so that a caller's time-out does not end the future of the others.
     */
    synchronized CompletableFuture<Link> whenReady() {
        return whenReady.copy();
    }

    /**
     * A quorum has committed a transaction that was sent in this epoch. Every commit of a claim passes here. If the session
     * has lapsed in the meantime it is given up, although the answer shows that the ensemble has kept it: the core may have
     * given up its permits.
     *
     * @return whether the answer may be relied on
     */
    boolean committed(Link link, long sentAt) {
        synchronized (this) {
            if (isCurrent(link)) {
                long alive = contacts.committed(sentAt, ticker.getAsLong());
                if (!ready || alive + granted - aliveUntil > 0) {
                    aliveUntil = alive + granted;
                    // The core counts the length that was asked for, less a twentieth, from the reported time. If the
                    // ensemble grants less, the time is reported as that much earlier.
                    long missing = length - granted;
                    long reported = alive - (missing - missing / 20);
                    // What it throws must not keep the session from becoming ready.
                    guarded(() -> events.alive(reported)).run();
                }
                return true;
            }
        }
        return answered(link);
    }

    /**
     * A read that was sent in this epoch was answered. That proves nothing about the session, because a leader without quorum
     * answers as well.
     *
     * @return whether the answer may be relied on
     */
    boolean answered(Link link) {
        synchronized (this) {
            if (isCurrent(link)) {
                return true;
            }
        }
        run(this::tick);
        return false;
    }

    /** To be called with the monitor. */
    private boolean isCurrent(Link link) {
        return link.epoch() == epoch && !isLapsed();
    }

    /**
     * A request has failed because its session is over.
     *
     * @param link with which the failed request was sent; if it is not the present one, nothing happens
     */
    void expired(Link link) {
        run(() -> giveUp(link.epoch()));
    }

    /** The periodic check. No event runs it, so that a server which refuses a client is asked once in a beat at most. */
    private void check() {
        replaceRefusedHandle();
        tick();
    }

    /** A handle whose authentication has failed never connects again, and Curator keeps it. */
    private void replaceRefusedHandle() {
        try {
            CuratorZookeeperClient holder = client.getZookeeperClient();
            if (holder.getZooKeeper().getState() == ZooKeeper.States.AUTH_FAILED) {
                if (!refused) {
                    refused = true;
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "A ZooKeeper server has refused the authentication of this instance: its session and its"
                                    + " permits are lost. The library connects again every {0} ms until a server accepts"
                                    + " it; check the credentials and what the servers authenticate with",
                            TimeUnit.NANOSECONDS.toMillis(granted / BEATS));
                }
                holder.reset();
            }
        } catch (Exception e) {
            LOG.log(System.Logger.Level.DEBUG, "No connection", e);
        }
    }

    /**
     * Gives up a session that has lapsed, was replaced or has become shorter, and requests the next confirmation. Runs on
     * the thread of the scheduler only.
     */
    private void tick() {
        ZooKeeper current = connected();
        long lapsed;
        synchronized (this) {
            // Curator makes a new handle when the session has expired, or when it could not connect for long.
            // The same handle may have another length after it has connected to another server.
            boolean replaced =
                    current != null && handle != null && (current != handle || negotiated(current) < granted);
            lapsed = replaced || isLapsed() ? epoch : -1;
        }
        if (lapsed >= 0) {
            // Outside of the monitor, because it calls the layer.
            giveUp(lapsed);
        }
        if (current != null) {
            beat(adopt(current));
        }
    }

    /**
     * The nine tenths are counted from when the session was certain to be alive. The difference is used because the
     * clock may overflow. To be called with the monitor.
     */
    private boolean isLapsed() {
        return ready && ticker.getAsLong() - aliveUntil >= -(granted / BEATS);
    }

    private static long negotiated(ZooKeeper zk) {
        return TimeUnit.MILLISECONDS.toNanos(zk.getSessionTimeout());
    }

    /** The handle of the client if it is connected. */
    private @Nullable ZooKeeper connected() {
        try {
            if (client.getZookeeperClient().isConnected()) {
                // Does not block once the client is connected.
                ZooKeeper zk = client.getZookeeperClient().getZooKeeper();
                return zk.getState().isConnected() ? zk : null;
            }
        } catch (Exception e) {
            LOG.log(System.Logger.Level.DEBUG, "No connection", e);
        }
        return null;
    }

    /**
     * Begins to use a handle. A shorter session than the one asked for shortens all that the core relies on.
     * Confirmations of an earlier epoch do not count for the new one.
     */
    private synchronized Link adopt(ZooKeeper current) {
        if (handle != current) {
            long negotiated = negotiated(current);
            if (negotiated < length) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "ZooKeeper grants a session of {0} ms, not the {1} ms of distributed-permit.lease: permits outlive"
                                + " this instance by the shorter time",
                        TimeUnit.NANOSECONDS.toMillis(negotiated),
                        TimeUnit.NANOSECONDS.toMillis(length));
            }
            long next = Math.min(negotiated, length);
            if (next != granted) {
                checkEvery(next / BEATS);
            }
            refused = false;
            handle = current;
            granted = next;
            contacts = new LeaderContact(granted);
        }
        return new Link(current, epoch);
    }

    /**
     * Has a quorum commit a transaction. An answer that is lost or delayed only makes the proven time end earlier; the next
     * beat follows in a tenth of the session.
     */
    private void beat(Link link) {
        long sentAt = ticker.getAsLong();
        nodes.commitNothing(link.zk()).whenComplete((done, failure) -> {
            if (failure == null && committed(link, sentAt)) {
                becomeReady(link);
            } else if (failure != null && Faults.isSessionLoss(failure)) {
                expired(link);
            }
        });
    }

    /**
     * A quorum has confirmed the session for the first time. The layer receives the session before the inspections
     * that wait for it; these end whatever the layer throws.
     */
    private void becomeReady(Link link) {
        CompletableFuture<Link> waiting;
        synchronized (this) {
            if (ready || link.epoch() != epoch) {
                return;
            }
            ready = true;
            waiting = whenReady;
        }
        guarded(() -> events.ready(link)).run();
        waiting.complete(link);
    }

    /**
     * Ends an epoch, unless it has ended. A session that was never ready has no permits, so that no loss is reported.
     *
     * @param which the epoch to end; an epoch that has ended already is not ended again, so that each loss is
     *     reported once
     */
    private void giveUp(long which) {
        synchronized (this) {
            if (which != epoch) {
                return;
            }
            epoch++;
            handle = null;
            contacts = new LeaderContact(granted);
            if (!ready) {
                return;
            }
            ready = false;
            whenReady = new CompletableFuture<>();
        }
        events.lost();
    }

    /** Dropped if the member has left. */
    private void run(Runnable task) {
        scheduler.execute(guarded(task));
    }

    /**
     * A periodic task that throws, also an {@link Error}, would be cancelled: no request would prove the session alive any
     * more, and all permits would be lost with it.
     */
    private static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                log(e);
            }
        };
    }

    private static void log(Throwable failure) {
        try {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "An event or a check of the ZooKeeper session failed; the next check follows",
                    failure);
        } catch (RuntimeException | Error withoutLog) {
            // such as a full stack
        }
    }
}
