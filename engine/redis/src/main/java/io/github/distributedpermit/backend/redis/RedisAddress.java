package io.github.distributedpermit.backend.redis;

import java.util.Collection;
import java.util.stream.Collectors;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The servers of a factory as text for messages: hosts and ports, and nothing that is secret. Stateless. For the name
 * of the backend in health and metrics, and for log lines.
 */
final class RedisAddress {

    private RedisAddress() {}

    /** The factory of one server has neither a Sentinel nor a Cluster configuration. */
    static String of(LettuceConnectionFactory factory) {
        RedisSentinelConfiguration sentinels = factory.getSentinelConfiguration();
        if (sentinels != null) {
            return "Sentinels " + nodes(sentinels.getSentinels());
        }
        RedisClusterConfiguration cluster = factory.getClusterConfiguration();
        if (cluster != null) {
            return nodes(cluster.getClusterNodes());
        }
        return factory.getSocketConfiguration() != null
                ? factory.getSocketConfiguration().getSocket()
                : factory.getHostName() + ":" + factory.getPort();
    }

    /** Sorted, so that the text is the same in all instances. */
    private static String nodes(Collection<RedisNode> nodes) {
        return nodes.stream().map(RedisNode::asString).sorted().collect(Collectors.joining(","));
    }
}
