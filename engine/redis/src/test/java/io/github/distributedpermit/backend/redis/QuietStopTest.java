package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.testsupport.Logged;
import io.github.distributedpermit.testsupport.RedisCluster;
import io.github.distributedpermit.testsupport.RedisSentinel;
import io.github.distributedpermit.testsupport.RedisServer;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** An ordinary stop leaves no warning of Lettuce in the application's log. */
class QuietStopTest extends RedisTest {

    @Test
    void ofAServer() {
        stopLogsNothing(open(RedisServer.started()).connectionFactory());
    }

    @Test
    void ofSentinels() {
        stopLogsNothing(open(RedisSentinel.start()).connectionFactory());
    }

    @Test
    void ofACluster() {
        stopLogsNothing(open(RedisCluster.start()).connectionFactory());
    }

    private void stopLogsNothing(LettuceConnectionFactory factory) {
        opened(factory);
        try (Logged logged = new Logged("io.lettuce")) {
            for (int i = 0; i < 20; i++) { // whether a connection is found closed is a race
                TestMember member = new TestMember(factory);
                assertThat(member.attempt(key(), 1, 1).permits()).isEqualTo(1);
                assertThat(member.keep(key(), 0).permits()).isZero();
                member.close();
            }
            assertThat(logged.texts()).isEmpty();
        }
    }
}
