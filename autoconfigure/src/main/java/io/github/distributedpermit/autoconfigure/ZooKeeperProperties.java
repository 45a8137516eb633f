package io.github.distributedpermit.autoconfigure;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the client that is made for permits in ZooKeeper if the application has none of its own.
 *
 * @param connectString Servers of the ensemble, such as 'zk1:2181,zk2:2181,zk3:2181'; a path behind them confines the
 *     client to that part of the tree.
 * @param sessionTimeout How long permits outlive their instance. The ensemble keeps it between two and twenty of its
 *     ticks. Also when the application has a client of its own, until that is connected. At least three command
 *     time-outs.
 * @param connectionTimeout How long a connection may take before another server is tried.
 * @param namespace First part of the path of all nodes. By default none.
 * @param authScheme Scheme of authentication, such as 'digest'. New nodes are then for their creators only.
 * @param authValue What the scheme asks for, such as 'user:password'.
 * @param clientConfig Properties of ZooKeeper's own client, such as '[zookeeper.client.secure]' and
 *     '[zookeeper.ssl.trustStore.location]' for TLS.
 */
@ConfigurationProperties("distributed-permit.zookeeper")
record ZooKeeperProperties(
        @DefaultValue("localhost:2181") String connectString,
        @DefaultValue("15s") Duration sessionTimeout,
        @DefaultValue("5s") Duration connectionTimeout,
        @Nullable String namespace,
        @Nullable String authScheme,
        @Nullable String authValue,
        @DefaultValue Map<String, String> clientConfig) {

    /** Without secrets, of which also the client's properties may hold some. */
    @Override
    public String toString() {
        return "ZooKeeperProperties[connectString=%s, sessionTimeout=%s]".formatted(connectString, sessionTimeout);
    }
}
