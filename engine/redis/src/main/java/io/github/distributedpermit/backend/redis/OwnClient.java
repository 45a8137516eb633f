package io.github.distributedpermit.backend.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.event.DefaultEventPublisherOptions;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The Lettuce client of the permits' connections. It has the servers, the settings and the threads of the application's
 * factory; {@link LettuceOptions} says which options differ. Thread-safe.
 */
final class OwnClient implements AutoCloseable {

    /** For the connections to the nodes of a cluster; the others are made again by {@link ConnectionManager}. */
    private static final Duration RECONNECT_MIN = Duration.ofMillis(50);

    private static final Duration RECONNECT_MAX = Duration.ofMillis(500);

    private static final Duration END_TIMEOUT = Duration.ofMillis(300);

    private final ServerUris uris;
    /** The factory's client, of which this one is derived; the factory has another one after it was started again. */
    private final AbstractRedisClient model;
    /** Belong to the application's factory, so that they are not shut down here. */
    private final ClientResources resources;
    /** The one that the application has set for its own commands. */
    private final Duration commandTimeout;
    /** For one server, for Sentinels, and for the roles of static nodes. */
    private final RedisClient plain;
    /** {@code null} outside a cluster. */
    private final @Nullable RedisClusterClient cluster;

    /** The application's resources with another reconnect delay; they share its threads. */
    private final @Nullable ClientResources clusterResources;

    private final Set<StatefulConnection<?, ?>> connections = ConcurrentHashMap.newKeySet();

    /**
     * Derives a client from the factory. Throws if the factory was not started.
     *
     * @param timeout bounds each step of connecting
     */
    OwnClient(LettuceConnectionFactory factory, Duration timeout) {
        this.uris = new ServerUris(factory, timeout);
        this.model = factory.getRequiredNativeClient();
        this.resources = model.getResources();
        this.commandTimeout = factory.getClientConfiguration().getCommandTimeout();
        this.plain = RedisClient.create(resources);
        // include what Spring adds to the configuration, such as max-redirects
        ClientOptions options = model.getOptions();
        plain.setOptions(LettuceOptions.forServer(options, timeout, uris.isUnixSocket()));
        if (uris.isCluster()) {
            ClientResources shared = withShortReconnectDelay(resources);
            RedisClusterClient client = RedisClusterClient.create(shared, uris.clusterNodes());
            client.setOptions(LettuceOptions.forCluster(options, timeout));
            this.cluster = client;
            this.clusterResources = shared;
        } else {
            this.cluster = null;
            this.clusterResources = null;
        }
    }

    /**
     * Shares the threads, and everything else that has state. It does not use {@code mutate()}: to shut down what that returns
     * would end the threads of the application, and not to shut it down would leave its publisher of metrics running.
     */
    private static ClientResources withShortReconnectDelay(ClientResources resources) {
        return ClientResources.builder()
                .eventLoopGroupProvider(resources.eventLoopGroupProvider())
                .eventExecutorGroup(resources.eventExecutorGroup())
                .timer(resources.timer())
                .eventBus(resources.eventBus())
                .commandLatencyRecorder(resources.commandLatencyRecorder())
                .commandLatencyPublisherOptions(DefaultEventPublisherOptions.disabled()) // the application's publishes
                .socketAddressResolver(resources.socketAddressResolver())
                .addressResolverGroup(resources.addressResolverGroup())
                .nettyCustomizer(resources.nettyCustomizer())
                .tracing(resources.tracing())
                .reconnectDelay(Delay.exponential(RECONNECT_MIN, RECONNECT_MAX, 2, TimeUnit.MILLISECONDS))
                .build();
    }

    /**
     * Whether the factory still is as it was when this client was made. {@code false} after the application has stopped
     * and started its factory, or another one has taken its place behind a proxy: servers, passwords, options and threads
     * may be other ones.
     */
    boolean isOf(LettuceConnectionFactory factory) {
        return factory.getRequiredNativeClient() == model;
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

    /**
     * Connects to one server. A connection that is made after the stage was cancelled is closed.
     *
     * @return may be cancelled at any time; no connection is leaked then
     */
    CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connect(RedisURI uri) {
        return closedIfCancelled(
                plain.connectAsync(ByteArrayCodec.INSTANCE, uri).thenApply(connection -> {
                    // the time-out of the address is for connecting; commands have the one that the application has set
                    connection.setTimeout(commandTimeout);
                    return connection;
                }));
    }

    /** Connects to a Sentinel. Every command has the time-out of connecting. Cancellation works as for a server. */
    <T> CompletableFuture<StatefulRedisConnection<T, T>> connect(RedisURI uri, RedisCodec<T, T> codec) {
        return closedIfCancelled(plain.connectAsync(codec, uri));
    }

    <T> CompletableFuture<StatefulRedisPubSubConnection<T, T>> openPubSub(RedisURI uri, RedisCodec<T, T> codec) {
        return closedIfCancelled(plain.connectPubSubAsync(codec, uri));
    }

    /** Reads which node has which slot, and connects. Blocks, each step for the time-out at most. */
    StatefulRedisClusterConnection<byte[], byte[]> connectToCluster() {
        RedisClusterClient client = requireCluster();
        client.refreshPartitions();
        StatefulRedisClusterConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
        connection.setTimeout(commandTimeout);
        note(connection);
        return connection;
    }

    CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>> subscribeToCluster() {
        return closedIfCancelled(
                requireCluster().connectPubSubAsync(ByteArrayCodec.INSTANCE).thenApply(connection -> connection));
    }

    /** Only called for a cluster. */
    private RedisClusterClient requireCluster() {
        if (cluster == null) {
            throw new IllegalStateException("Not a cluster");
        }
        return cluster;
    }

    /** A connection without a reader would stay open until the client is closed. */
    private <C extends StatefulConnection<?, ?>> CompletableFuture<C> closedIfCancelled(CompletionStage<C> connecting) {
        CompletableFuture<C> awaited = new CompletableFuture<>();
        connecting.whenComplete((connection, failure) -> {
            if (failure != null) {
                awaited.completeExceptionally(failure);
            } else if (awaited.complete(connection)) {
                note(connection);
            } else {
                connection.closeAsync();
            }
        });
        return awaited;
    }

    private void note(StatefulConnection<?, ?> opened) {
        connections.removeIf(connection -> !connection.isOpen());
        connections.add(opened);
    }

    /**
     * Closes the connections; the threads belong to the application. Lettuce warns of each connection that its client finds closing, so
     * the client ends after them. It waits for a moment, since a client that is made while another one of the same resources ends
     * may get threads that end too.
     */
    @Override
    public void close() {
        awaitEnd(CompletableFuture.allOf(connections.stream()
                .filter(StatefulConnection::isOpen)
                .map(StatefulConnection::closeAsync)
                .toArray(CompletableFuture<?>[]::new)));
        CompletableFuture<Void> ended = plain.shutdownAsync(0, 0, TimeUnit.SECONDS);
        if (cluster != null && clusterResources != null) {
            ClientResources own = clusterResources; // they end last; they only wrap the application's threads
            ended = CompletableFuture.allOf(
                    ended,
                    cluster.shutdownAsync(0, 0, TimeUnit.SECONDS)
                            .whenComplete((done, failure) -> own.shutdown(0, 0, TimeUnit.SECONDS)));
        }
        awaitEnd(ended);
    }

    /** Also if the thread is interrupted, and for a moment only: what has not ended by then ends with the application's threads. */
    private static void awaitEnd(CompletableFuture<Void> end) {
        end.handle((done, failure) -> done)
                .completeOnTimeout(null, END_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }
}
