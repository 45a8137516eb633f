package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class RedisAddressTest {

    @Test
    void addressNamesHostsAndPortsAndNoSecret() {
        RedisStandaloneConfiguration one = new RedisStandaloneConfiguration("redis.example", 6380);
        one.setUsername("canary");
        one.setPassword("canary");
        assertThat(RedisAddress.of(new LettuceConnectionFactory(one))).isEqualTo("redis.example:6380");
        RedisSentinelConfiguration sentinels =
                new RedisSentinelConfiguration("mymaster", Set.of("b.example:26379", "a.example:26379"));
        sentinels.setPassword("canary");
        assertThat(RedisAddress.of(new LettuceConnectionFactory(sentinels)))
                .isEqualTo("Sentinels a.example:26379,b.example:26379");
        RedisClusterConfiguration cluster = new RedisClusterConfiguration(Set.of("a.example:1", "b.example:2"));
        assertThat(RedisAddress.of(new LettuceConnectionFactory(cluster))).isEqualTo("a.example:1,b.example:2");
    }
}
