package io.github.distributedpermit.backend.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One connection that claims and other commands of the member share. It is used until it is lost or given up, and is then
 * replaced by another; nothing of it is used again. Any thread may send and count; only the thread of the
 * {@link ConnectionManager} calls the methods that look for a silent connection.
 *
 * <p>A connection is silent if commands wait and no answer at all arrives. A slow command alone does not make it silent,
 * as long as others are answered.
 */
final class SharedConnection {

    /** How long no answer may arrive while a command waits for one. The connection is then examined, not yet given up. */
    private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Checks in a row without an answer, so that a pause of this process is not taken for a silent server. */
    private static final int QUIET_CHECKS = 2;

    private final RedisClusterAsyncCommands<byte[], byte[]> commands;
    private final StatefulConnection<byte[], byte[]> state;
    private final @Nullable StatefulRedisClusterConnection<byte[], byte[]> cluster;
    private final @Nullable RedisURI server;
    private final UnresponsiveNodes nodes;
    /** How long commands of the member may block the connection in good order. */
    private final long blockedMillis;
    /** Commands that were sent and have not ended. */
    private final AtomicInteger unanswered = new AtomicInteger();
    /** All answers so far. Two checks that see the same number have seen no answer between them. */
    private final AtomicLong answers = new AtomicLong();

    /** The server has answered, since this was last looked at, that it takes no claims: it is a replica, or lacks its master or replicas. */
    final AtomicBoolean refusing = new AtomicBoolean();
    /** The server has answered, since this was last looked at, that it was closed, because another one had become the master. */
    final AtomicBoolean serverClosed = new AtomicBoolean();
    /** Whether the server shows its replication id, by which a loss of state is noticed, as far as is known. */
    volatile boolean showsEpochs = true;
    /** Why limits are not safe on the server, as far as is known. */
    volatile @Nullable String warning;

    /** Given up: answers that still arrive are not applied, because another connection may have sent a later claim. */
    private volatile boolean retired;

    // confined to the thread of the ConnectionManager, which alone decides about silence
    private long seenAnswers;
    /** When the first of the checks took place that have seen no answer since. */
    private long quietSince;

    private int quietChecks;
    private boolean suspect;

    /**
     * A connection to one server.
     *
     * @param blockedMillis how long commands of the member may block it, such as those that wait for a replica
     */
    SharedConnection(
            StatefulRedisConnection<byte[], byte[]> connection,
            RedisURI server,
            UnresponsiveNodes nodes,
            long blockedMillis) {
        this.state = connection;
        this.commands = connection.async();
        this.cluster = null;
        this.server = server;
        this.nodes = nodes;
        this.blockedMillis = blockedMillis;
    }

    /** A connection to a cluster. */
    SharedConnection(StatefulRedisClusterConnection<byte[], byte[]> connection, UnresponsiveNodes nodes) {
        this.state = connection;
        this.commands = connection.async();
        this.cluster = connection;
        this.server = null;
        this.nodes = nodes;
        this.blockedMillis = 0;
    }

    RedisClusterAsyncCommands<byte[], byte[]> commands() {
        return commands;
    }

    /** Which nodes answer. */
    UnresponsiveNodes nodes() {
        return nodes;
    }

    /** How long commands of the member may block it in good order; in milliseconds. */
    long blockedMillis() {
        return blockedMillis;
    }

    boolean isCluster() {
        return cluster != null;
    }

    /** The server at the other end; {@code null} in a cluster. */
    @Nullable
    RedisURI server() {
        return server;
    }

    /** In a cluster Lettuce reconnects by itself, node by node. */
    void onLoss(Runnable task) {
        if (!isCluster()) {
            onLoss(state, task);
        }
    }

    /** Runs the task when the connection is lost. */
    static void onLoss(StatefulConnection<?, ?> connection, Runnable task) {
        connection.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> ended) {
                task.run();
            }
        });
    }

    /**
     * Whether the connection is lost and will not come back. In a cluster the loss of a connection to one node means nothing:
     * other nodes answer, and Lettuce reconnects that node. There it is lost only when the whole has been closed.
     */
    boolean isDown() {
        return retired || (cluster == null ? !state.isOpen() : isClosed(cluster));
    }

    private static boolean isClosed(StatefulRedisClusterConnection<byte[], byte[]> cluster) {
        return cluster instanceof RedisChannelHandler<?, ?> whole && whole.isClosed();
    }

    /** Counts a command that is sent. */
    void countSent() {
        unanswered.incrementAndGet();
    }

    /** Counts a command that has ended, with an answer or without. */
    void countEnded(boolean answered) {
        unanswered.decrementAndGet();
        if (answered) {
            answers.incrementAndGet();
        }
    }

    /** Whether commands have been unanswered for a while. Only for the thread of the ConnectionManager. */
    boolean isSilent(long now) {
        if (suspect) {
            return true;
        }
        long seen = answers.get();
        if (unanswered.get() <= 0 || seen != seenAnswers || quietChecks == 0) {
            seenAnswers = seen;
            quietChecks = unanswered.get() > 0 ? 1 : 0;
            quietSince = now;
            return false;
        }
        return ++quietChecks > QUIET_CHECKS
                && now - quietSince >= QUIET_NANOS + TimeUnit.MILLISECONDS.toNanos(blockedMillis);
    }

    /** An examination showed that the connection works. Only for the thread of the ConnectionManager. */
    void markHealthy() {
        quietChecks = 0;
        suspect = false;
    }

    /** A command that was not a claim was unanswered for long. Only for the thread of the ConnectionManager. */
    void markSuspect() {
        suspect = true;
    }

    /** Whether the connection was given up; answers that still arrive do not count. */
    boolean isRetired() {
        return retired;
    }

    /** Gives the connection up and closes it. Does not wait for the server. */
    void retire() {
        if (!retired) {
            retired = true;
            close();
        }
    }

    /** Likewise, but closes the connection only when its last command has ended. */
    void retireAfter(CompletableFuture<?> lastCommand) {
        if (!retired) {
            retired = true;
            lastCommand.whenComplete((answer, failure) -> close());
        }
    }

    /** It is closed already if the client has been. */
    private void close() {
        if (state.isOpen()) {
            state.closeAsync();
        }
    }

    /** The node that serves the key; empty outside a cluster. */
    String node(@Nullable RedisKey key) {
        if (cluster == null || key == null) {
            return "";
        }
        RedisClusterNode node = cluster.getPartitions().getPartitionBySlot(SlotHash.getSlot(key.state()));
        return node == null ? "" : node.getNodeId();
    }
}
