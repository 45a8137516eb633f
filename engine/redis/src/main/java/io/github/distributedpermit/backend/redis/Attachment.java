package io.github.distributedpermit.backend.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The factory's shared connection, as Lettuce has it. Closing it leaves the shared connection alone; only where the
 * factory shares none, it closes its own.
 */
final class Attachment implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Attachment.class.getName());
    private static final long LEAVING_AGAIN = TimeUnit.SECONDS.toNanos(1);

    private final RedisConnection connection;
    private final RedisClusterAsyncCommands<byte[], byte[]> commands;
    private final StatefulConnection<byte[], byte[]> state;
    private final @Nullable StatefulRedisClusterConnection<byte[], byte[]> cluster;

    private final RedisConnectionStateListener reconnection;
    private final AtomicLong lastLeft = new AtomicLong(System.nanoTime() - LEAVING_AGAIN);

    @SuppressWarnings("unchecked")
    private Attachment(RedisConnection connection, Runnable reconnected) {
        this.connection = connection;
        Object nativeConnection = connection.getNativeConnection();
        if (nativeConnection instanceof RedisAdvancedClusterAsyncCommands<?, ?> many) {
            cluster = (StatefulRedisClusterConnection<byte[], byte[]>) many.getStatefulConnection();
            state = cluster;
            commands = cluster.async();
        } else {
            cluster = null;
            state = ((RedisAsyncCommands<byte[], byte[]>) nativeConnection).getStatefulConnection();
            commands = (RedisAsyncCommands<byte[], byte[]>) nativeConnection;
        }
        reconnection = new RedisConnectionStateListener() {
            @Override
            public void onRedisConnected(RedisChannelHandler<?, ?> handler, SocketAddress server) {
                reconnected.run();
            }
        };
        state.addListener(reconnection);
    }

    /**
     * Connects if that has not been done yet; blocks as long as that takes.
     *
     * @param reconnected called on a thread of the client each time it has connected again
     */
    static Attachment to(LettuceConnectionFactory factory, Runnable reconnected) {
        return new Attachment(factory.getConnection(), reconnected);
    }

    RedisClusterAsyncCommands<byte[], byte[]> commands() {
        return commands;
    }

    boolean isCluster() {
        return cluster != null;
    }

    /** Whether it is known to be cut off now. A cluster may answer for some slots and not for others: never known. */
    boolean isDown() {
        return cluster == null ? !state.isOpen() : isGone();
    }

    /** Whether its owner has closed it for good, so that a new one is needed. */
    boolean isGone() {
        return state instanceof RedisChannelHandler<?, ?> handler && handler.isClosed();
    }

    /**
     * The server has become a replica, or was taken for the master while a fail-over was under way. It would keep the
     * connection for ever; once that has ended, Lettuce connects again to where Sentinel or the name points by then. A
     * cluster says by itself who answers instead.
     */
    void leaveReplica() {
        long now = System.nanoTime();
        long last = lastLeft.get();
        if (cluster == null && now - last >= LEAVING_AGAIN && lastLeft.compareAndSet(last, now)) {
            LOG.log(System.Logger.Level.INFO, "Redis answers as a replica; connecting again to find the master");
            commands.quit();
        }
    }

    /** Who answers for the key; outside of a cluster it is the same for all. */
    String node(@Nullable RedisKey key) {
        if (cluster == null || key == null) {
            return "";
        }
        RedisClusterNode node = cluster.getPartitions().getPartitionBySlot(SlotHash.getSlot(key.state()));
        return node == null ? "" : node.getNodeId();
    }

    @Override
    public void close() {
        state.removeListener(reconnection);
        connection.close();
    }
}
