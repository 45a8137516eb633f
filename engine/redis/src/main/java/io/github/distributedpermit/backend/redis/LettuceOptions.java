package io.github.distributedpermit.backend.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.resource.EpollProvider;
import io.lettuce.core.resource.KqueueProvider;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * Derives the options of the permits' connections from those of the application. They differ in three respects: each step of
 * connecting is bounded, TCP keeps idle connections alive, and Lettuce does not reconnect a connection to one server, because
 * its pause grows to half a minute. Stateless.
 *
 * <p>All other options stay as the application has set them, such as the protocol version and the TLS settings.
 */
final class LettuceOptions {

    /** The least time between two reads of the topology that failures cause. */
    private static final Duration REFRESH_PAUSE = Duration.ofSeconds(1);

    private LettuceOptions() {}

    /**
     * For connections to one server.
     *
     * @param timeout bounds each step of connecting
     * @param unixSocket whether the server listens on a Unix domain socket, which has no options of TCP
     */
    static ClientOptions forServer(ClientOptions known, Duration timeout, boolean unixSocket) {
        return known.mutate()
                .socketOptions(socketOptions(known.getSocketOptions(), timeout, unixSocket))
                .sslOptions(sslOptions(known.getSslOptions(), timeout))
                .autoReconnect(false)
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .build();
    }

    /**
     * For the connections to a cluster: Lettuce opens them when they are needed, so it also reconnects them. Commands
     * are refused while a node is not connected, instead of being kept for an unknown time.
     */
    static ClusterClientOptions forCluster(ClientOptions known, Duration timeout) {
        ClusterClientOptions base = known instanceof ClusterClientOptions clusterOptions
                ? clusterOptions
                : ClusterClientOptions.builder(known).build();
        return base.mutate()
                .socketOptions(socketOptions(known.getSocketOptions(), timeout, false))
                .sslOptions(sslOptions(known.getSslOptions(), timeout))
                .autoReconnect(true)
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .topologyRefreshOptions(refreshOptions(base.getTopologyRefreshOptions()))
                .build();
    }

    /**
     * All adaptive triggers are enabled, so that a fail-over within the cluster is found by the first claims that
     * fail, and not by the periodic read.
     */
    private static ClusterTopologyRefreshOptions refreshOptions(@Nullable ClusterTopologyRefreshOptions known) {
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

    /**
     * The default of Lettuce for the handshake is 10 s: one server that hangs in it would hold up the search for
     * another. The key and trust stores stay those of the application.
     */
    private static SslOptions sslOptions(SslOptions known, Duration timeout) {
        return known.mutate()
                .handshakeTimeout(shorter(known.getHandshakeTimeout(), timeout))
                .build();
    }

    /**
     * An idle connection, such as that to a node of a cluster whose keys are seldom used, stays known to firewalls by the
     * keep-alive times of Lettuce. A Unix domain socket has no options of TCP.
     */
    private static SocketOptions socketOptions(SocketOptions known, Duration timeout, boolean unixSocket) {
        SocketOptions.Builder options = known.mutate().connectTimeout(shorter(known.getConnectTimeout(), timeout));
        if (unixSocket) {
            options.keepAlive(false);
        } else if (hasKeepAliveTimes()) {
            options.keepAlive(KeepAliveOptions.builder().enable().build());
        }
        return options.build();
    }

    /** The application's own time-out stays if it is shorter. */
    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /**
     * Not all platforms have them; Lettuce would log a warning at each connection. Where they are missing, plain
     * keep-alive with the times of the operating system is used.
     */
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
}
