package io.github.distributedpermit.backend.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.SocketOptions.TcpUserTimeoutOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.EpollProvider;
import io.lettuce.core.resource.KqueueProvider;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Opens the connections that belong to permits. The settings are those of the application's factory, and so are the threads;
 * what differs concerns only these connections: Lettuce does not reconnect them, for its pause grows to half a minute, and
 * TCP ends them early when the other side has vanished. Thread-safe.
 */
final class OwnClient implements AutoCloseable {

    private static final Duration RECONNECT_MIN = Duration.ofMillis(50);
    private static final Duration RECONNECT_MAX = Duration.ofMillis(500);
    private static final Duration REFRESH_PAUSE = Duration.ofSeconds(1);
    private static final Duration KEEP_ALIVE_IDLE = Duration.ofSeconds(10);
    private static final Duration KEEP_ALIVE_INTERVAL = Duration.ofSeconds(2);
    private static final Duration USER_TIMEOUT = Duration.ofSeconds(5);

    private final ServerUris uris;
    private final ClientResources resources;
    private final Duration commandTimeout;
    private final RedisClient plain;
    private final @Nullable RedisClusterClient cluster;

    private OwnClient(ServerUris uris, ClientResources resources, ClientOptions options, Duration commandTimeout) {
        this.uris = uris;
        this.resources = resources;
        this.commandTimeout = commandTimeout;
        this.plain = RedisClient.create(resources);
        plain.setOptions(options.mutate()
                .autoReconnect(false)
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .build());
        this.cluster = uris.isCluster() ? cluster(uris, resources, options) : null;
    }

    /**
     * Derives a client from the factory, which must have been started.
     *
     * @param timeout bounds each step of connecting
     */
    static OwnClient of(LettuceConnectionFactory factory, Duration timeout) {
        ClientResources resources = factory.getRequiredNativeClient().getResources();
        ClientOptions options =
                factory.getClientConfiguration().getClientOptions().orElseGet(ClientOptions::create);
        SocketOptions sockets = sockets(options.getSocketOptions(), timeout);
        return new OwnClient(
                ServerUris.of(factory, timeout),
                resources,
                options.mutate().socketOptions(sockets).build(),
                factory.getClientConfiguration().getCommandTimeout());
    }

    /** Whether the factory still has the threads that this client uses. */
    boolean fits(LettuceConnectionFactory factory) {
        return factory.getRequiredNativeClient().getResources() == resources;
    }

    ServerUris uris() {
        return uris;
    }

    ClientResources resources() {
        return resources;
    }

    boolean isCluster() {
        return cluster != null;
    }

    /** Connects to one server. A connection that is made after the stage was given up is closed. */
    CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connect(RedisURI uri) {
        return opened(plain.connectAsync(ByteArrayCodec.INSTANCE, uri));
    }

    /** A connection to a Sentinel, on which every command has the time-out of connecting. */
    <T> CompletableFuture<StatefulRedisConnection<T, T>> connect(RedisURI uri, RedisCodec<T, T> codec) {
        return followed(plain.connectAsync(codec, uri));
    }

    <T> CompletableFuture<StatefulRedisPubSubConnection<T, T>> subscriber(RedisURI uri, RedisCodec<T, T> codec) {
        return followed(plain.connectPubSubAsync(codec, uri));
    }

    /** Asks the nodes who has which slot, and connects; blocks, each step for the time-out at most. */
    StatefulRedisClusterConnection<byte[], byte[]> connectToCluster() {
        RedisClusterClient client = requireCluster();
        client.refreshPartitions();
        StatefulRedisClusterConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
        connection.setTimeout(commandTimeout);
        return connection;
    }

    CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>> clusterSubscriber() {
        return followed(
                requireCluster().connectPubSubAsync(ByteArrayCodec.INSTANCE).thenApply(connection -> connection));
    }

    private RedisClusterClient requireCluster() {
        if (cluster == null) {
            throw new IllegalStateException("Not a cluster");
        }
        return cluster;
    }

    /** The time-out of the address is for connecting; commands have the one that the application has set. */
    private <C extends StatefulConnection<?, ?>> CompletableFuture<C> opened(CompletionStage<C> connecting) {
        return followed(connecting.thenApply(connection -> {
            connection.setTimeout(commandTimeout);
            return connection;
        }));
    }

    private static <C extends StatefulConnection<?, ?>> CompletableFuture<C> followed(CompletionStage<C> connecting) {
        CompletableFuture<C> awaited = new CompletableFuture<>();
        connecting.whenComplete((connection, failure) -> {
            if (failure != null) {
                awaited.completeExceptionally(failure);
            } else if (!awaited.complete(connection)) {
                connection.closeAsync();
            }
        });
        return awaited;
    }

    /** A cluster's connection is many, which Lettuce opens as they are needed; so it reconnects them, with a short pause. */
    private static RedisClusterClient cluster(ServerUris uris, ClientResources resources, ClientOptions options) {
        ClientResources impatient = resources
                .mutate()
                .reconnectDelay(Delay.exponential(RECONNECT_MIN, RECONNECT_MAX, 2, TimeUnit.MILLISECONDS))
                .build();
        RedisClusterClient client = RedisClusterClient.create(impatient, uris.clusterNodes());
        ClusterClientOptions known = options instanceof ClusterClientOptions clusterOptions
                ? clusterOptions
                : ClusterClientOptions.builder(options).build();
        client.setOptions(known.mutate()
                .autoReconnect(true)
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .socketOptions(options.getSocketOptions())
                .topologyRefreshOptions(refresh(known.getTopologyRefreshOptions()))
                .build());
        return client;
    }

    private static ClusterTopologyRefreshOptions refresh(@Nullable ClusterTopologyRefreshOptions known) {
        ClusterTopologyRefreshOptions base = known == null ? ClusterTopologyRefreshOptions.create() : known;
        return ClusterTopologyRefreshOptions.builder()
                .enablePeriodicRefresh(base.isPeriodicRefreshEnabled())
                .refreshPeriod(base.getRefreshPeriod())
                .dynamicRefreshSources(base.useDynamicRefreshSources())
                .enableAllAdaptiveRefreshTriggers()
                .adaptiveRefreshTriggersTimeout(REFRESH_PAUSE)
                .refreshTriggersReconnectAttempts(1)
                .build();
    }

    private static SocketOptions sockets(SocketOptions base, Duration timeout) {
        Duration connect = base.getConnectTimeout().compareTo(timeout) < 0 ? base.getConnectTimeout() : timeout;
        SocketOptions.Builder sockets = base.mutate().connectTimeout(connect);
        if (hasKeepAliveTimes()) {
            sockets.keepAlive(KeepAliveOptions.builder()
                    .enable()
                    .idle(KEEP_ALIVE_IDLE)
                    .interval(KEEP_ALIVE_INTERVAL)
                    .count(3)
                    .build());
        } else {
            sockets.keepAlive(true);
        }
        if (EpollProvider.isAvailable()) {
            sockets.tcpUserTimeout(TcpUserTimeoutOptions.builder()
                    .enable()
                    .tcpUserTimeout(USER_TIMEOUT)
                    .build());
        }
        return sockets.build();
    }

    /** Not on all platforms; Lettuce would warn at each connection. */
    private static boolean hasKeepAliveTimes() {
        if (EpollProvider.isAvailable()) {
            return true;
        }
        try (SocketChannel channel = SocketChannel.open()) {
            return channel.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)
                    && !KqueueProvider.isAvailable();
        } catch (IOException e) {
            return false;
        }
    }

    /** Closes the connections; the threads belong to the application. Does not wait. */
    @Override
    public void close() {
        plain.shutdownAsync(0, 0, TimeUnit.SECONDS);
        if (cluster != null) {
            cluster.shutdownAsync(0, 0, TimeUnit.SECONDS);
        }
    }
}
