package io.github.distributedpermit.autoconfigure;

import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.client.ConnectStringParser;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** Makes a client for permits. An application that needs more than the address of its servers makes one of its own. */
final class ZooKeeperClientFactory {

    private static final String CONNECT_STRING = "distributed-permit.zookeeper.connect-string";
    private static final int RETRIES = 3;
    private static final int FIRST_RETRY_MILLIS = 100;
    private static final int CONNECTION_MILLIS = 5_000;

    private ZooKeeperClientFactory() {}

    /**
     * Does not wait for a connection.
     *
     * @param session the time-out to ask the servers for
     */
    static CuratorFramework start(String connectString, Duration session) {
        check(connectString);
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(connectString)
                .sessionTimeoutMs((int) Math.min(session.toMillis(), Integer.MAX_VALUE))
                .connectionTimeoutMs(CONNECTION_MILLIS)
                .retryPolicy(new ExponentialBackoffRetry(FIRST_RETRY_MILLIS, RETRIES))
                .ensembleTracker(false) // the servers' own idea of their addresses may not be ours
                .build();
        client.start();
        return client;
    }

    private static void check(String connectString) {
        String reason = "give host:port,host:port,...";
        try {
            if (!connectString.isBlank()
                    && !new ConnectStringParser(connectString)
                            .getServerAddresses()
                            .isEmpty()) {
                return;
            }
        } catch (IllegalArgumentException e) {
            reason += "; " + e.getMessage();
        }
        throw new InvalidConfigurationPropertyValueException(CONNECT_STRING, connectString, reason);
    }
}
