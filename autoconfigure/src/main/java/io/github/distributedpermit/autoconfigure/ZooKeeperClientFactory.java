package io.github.distributedpermit.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.DefaultACLProvider;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** Makes a client from properties; values that cannot work stop the start, by their property's name. */
final class ZooKeeperClientFactory {

    private static final String PREFIX = "distributed-permit.zookeeper.";
    private static final int COMMANDS_PER_SESSION = 3;
    private static final int RETRIES = 3;
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
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                .connectString(connectString())
                .sessionTimeoutMs(milliseconds("session-timeout", properties.sessionTimeout()))
                .connectionTimeoutMs(milliseconds("connection-timeout", properties.connectionTimeout()))
                .retryPolicy(new ExponentialBackoffRetry(FIRST_RETRY_MILLIS, RETRIES))
                .ensembleTracker(false) // the servers' own idea of their addresses may not be ours
                .namespace(namespace())
                .zkClientConfig(clientConfig());
        authorize(builder);
        CuratorFramework client = builder.build();
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

    private @Nullable String namespace() {
        String value = properties.namespace();
        if (value == null || value.isEmpty()) {
            return null;
        }
        try {
            PathUtils.validatePath("/" + value);
        } catch (IllegalArgumentException e) {
            throw invalid("namespace", value, "it makes no path: " + e.getMessage());
        }
        return value;
    }

    private void authorize(CuratorFrameworkFactory.Builder builder) {
        String scheme = properties.authScheme();
        String value = properties.authValue();
        if (scheme == null && value == null) {
            return;
        }
        if (scheme == null || scheme.isBlank() || value == null) {
            throw invalid("auth-scheme", String.valueOf(scheme), "give auth-scheme and auth-value, or neither");
        }
        builder.authorization(scheme, value.getBytes(StandardCharsets.UTF_8)).aclProvider(new CreatorsOnly());
    }

    private ZKClientConfig clientConfig() {
        ZKClientConfig config = new ZKClientConfig();
        properties.clientConfig().forEach(config::setProperty);
        return config;
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

    /** With an identity, nodes belong to it. */
    private static final class CreatorsOnly extends DefaultACLProvider {

        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }
    }
}
