package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** What the permits' connections take over from the application, and what not. No server is needed to see it. */
class LettuceOptionsTest extends RedisTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    @Test
    void redirectsOfTheClusterAreThoseOfTheApplication() {
        RedisClusterConfiguration nodes = new RedisClusterConfiguration(List.of("127.0.0.1:1"));
        nodes.setMaxRedirects(2);
        LettuceConnectionFactory factory = opened(RedisServer.running(new LettuceConnectionFactory(nodes)));

        ClientOptions known = factory.getRequiredNativeClient().getOptions();

        assertThat(LettuceOptions.forCluster(known, TIMEOUT).getMaxRedirects()).isEqualTo(2);
    }

    @Test
    void unixSocketHasNoOptionsOfTcp() {
        SocketOptions options =
                LettuceOptions.forServer(ClientOptions.create(), TIMEOUT, true).getSocketOptions();

        assertThat(options.isKeepAlive()).isFalse();
        assertThat(options.isEnableTcpUserTimeout()).isFalse();
    }

    @Test
    void eachStepOfConnectingIsBounded() {
        ClientOptions options = LettuceOptions.forServer(ClientOptions.create(), TIMEOUT, false);

        assertThat(options.getSslOptions().getHandshakeTimeout()).isEqualTo(TIMEOUT);
        assertThat(options.getSocketOptions().getConnectTimeout()).isEqualTo(TIMEOUT);
        assertThat(options.getSocketOptions().isKeepAlive()).isTrue();
    }
}
