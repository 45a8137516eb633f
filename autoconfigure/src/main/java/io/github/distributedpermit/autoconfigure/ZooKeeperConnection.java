package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.zookeeper.ZooKeeperSettings;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * The client that permits use.
 *
 * @param client started
 * @param sessionTimeout what it asks the ensemble for
 * @param owned whether it was made for permits alone, and ends with them
 */
record ZooKeeperConnection(CuratorFramework client, Duration sessionTimeout, boolean owned) implements AutoCloseable {

    /** A client of the application, whose session has its own length. */
    static ZooKeeperConnection shared(CuratorFramework client, Duration sessionTimeout) {
        if (client.getState() != CuratorFrameworkState.STARTED) {
            throw new UnusableBackendException(
                    "Permits are to live in ZooKeeper, but the application's CuratorFramework is not started",
                    "Start it where it is made, such as with @Bean(initMethod = \"start\", destroyMethod = \"close\")");
        }
        int negotiated = client.getZookeeperClient().getLastNegotiatedSessionTimeoutMs();
        return new ZooKeeperConnection(client, negotiated > 0 ? Duration.ofMillis(negotiated) : sessionTimeout, false);
    }

    ZooKeeperSettings settings(String keyPrefix) {
        try {
            return ZooKeeperSettings.of(keyPrefix, sessionTimeout);
        } catch (IllegalArgumentException e) {
            throw new InvalidConfigurationPropertyValueException(
                    "distributed-permit.key-prefix", keyPrefix, "it makes no path: " + e.getMessage());
        }
    }

    @Override
    public void close() {
        if (owned) {
            client.close();
        }
    }
}
