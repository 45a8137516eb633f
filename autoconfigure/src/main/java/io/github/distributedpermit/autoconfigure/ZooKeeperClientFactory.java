package io.github.distributedpermit.autoconfigure;

import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.client.ConnectStringParser;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** Makes a client from properties; values that cannot work stop the start, by their property's name. */
final class ZooKeeperClientFactory {

    private static final String PREFIX = "distributed-permit.zookeeper.";
    private static final int COMMANDS_PER_SESSION = 3;
    private static final int RETRIES = 3;
    private static final int CONNECTION_MILLIS = 5_000;
    private static final int FIRST_RETRY_MILLIS = 100;

    private final ZooKeeperProperties properties;

    /**
     * @param commandTimeout how long an answer may take: a session has to survive a few
     */
    ZooKeeperClientFactory(ZooKeeperProperties properties, Duration commandTimeout) {
        this.properties = properties;
        if (properties.sessionTimeout().compareTo(commandTimeout.multipliedBy(COMMANDS_PER_SESSION)) < 0) {
            throw invalid(
                    "session-timeout",
                    properties.sessionTimeout(),
                    "it is shorter than three command time-outs; make it longer, or distributed-permit.command-timeout"
                            + " (%s) shorter".formatted(commandTimeout));
        }
        milliseconds("session-timeout", properties.sessionTimeout());
    }

    /** Does not wait for a connection. */
    CuratorFramework start() {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(connectString())
                .sessionTimeoutMs(milliseconds("session-timeout", properties.sessionTimeout()))
                .connectionTimeoutMs(CONNECTION_MILLIS)
                .retryPolicy(new ExponentialBackoffRetry(FIRST_RETRY_MILLIS, RETRIES))
                .ensembleTracker(false) // the servers' own idea of their addresses may not be ours
                .build();
        client.start();
        return client;
    }

    private String connectString() {
        String value = properties.connectString();
        try {
            if (!value.isBlank()
                    && !new ConnectStringParser(value).getServerAddresses().isEmpty()) {
                return value;
            }
        } catch (IllegalArgumentException e) {
            throw invalid("connect-string", value, "give host:port,host:port,...; " + e.getMessage());
        }
        throw invalid("connect-string", value, "give host:port,host:port,...");
    }

    private static int milliseconds(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw invalid(name, value, "give more than zero");
        }
        if (value.compareTo(Duration.ofDays(1)) > 0) {
            throw invalid(name, value, "it is longer than a day; give a shorter duration");
        }
        return (int) value.toMillis();
    }

    private static InvalidConfigurationPropertyValueException invalid(String name, Object value, String reason) {
        return new InvalidConfigurationPropertyValueException(PREFIX + name, value, reason);
    }
}
