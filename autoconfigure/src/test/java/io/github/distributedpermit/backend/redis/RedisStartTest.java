package io.github.distributedpermit.backend.redis;

import static io.github.distributedpermit.backend.redis.TestMember.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.testsupport.RedisServer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

class RedisStartTest extends RedisTest {

    @Test
    void jedisIsRefusedWithTheRemedy() {
        JedisConnectionFactory jedis = new JedisConnectionFactory(new RedisStandaloneConfiguration());

        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisPermitBackend.of(jedis, TestMember.SETTINGS, System::nanoTime))
                .withMessageContaining("Lettuce")
                .withMessageContaining("spring.data.redis.client-type=lettuce")
                .withMessageContaining("JedisConnectionFactory");
    }

    @ParameterizedTest
    @ValueSource(strings = {"volatile-lru", "allkeys-lfu"})
    void evictionPolicyThatMayDropPermitsIsWarnedAbout(String policy) {
        RedisServer server = open(RedisServer.started("--maxmemory-policy", policy));
        Warnings warnings = open(new Warnings());

        TestMember a = member(factory(server));
        a.queue(key(), 1, 1);

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(warnings.texts)
                        .anyMatch(text -> text.contains(policy) && text.contains("noeviction")));
    }

    @Test
    void noWarningWithoutEviction() {
        RedisServer server = open(RedisServer.started("--maxmemory-policy", "noeviction"));
        Warnings warnings = open(new Warnings());

        member(factory(server)).queue(key(), 1, 1);

        assertThat(warnings.texts).isEmpty();
    }

    @Test
    void startWithoutTheRightToAskForThePolicyIsNoProblem() {
        RedisServer server = open(RedisServer.started());
        eye(server).acl("SETUSER", "default", "-info");
        Warnings warnings = open(new Warnings());

        assertThat(member(factory(server)).queue(key(), 1, 1).permits()).isEqualTo(1);
        assertThat(warnings.texts).isEmpty();
        eye(server).acl("SETUSER", "default", "+info");
    }

    /** What the policy check logs. */
    private static final class Warnings extends Handler implements AutoCloseable {

        private final Logger logger = Logger.getLogger(EvictionPolicy.class.getName());
        private final List<String> texts = new CopyOnWriteArrayList<>();

        Warnings() {
            logger.addHandler(this);
        }

        @Override
        public void publish(LogRecord entry) {
            if (entry.getLevel().intValue() >= Level.WARNING.intValue()) {
                texts.add(new SimpleFormatter().formatMessage(entry));
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            logger.removeHandler(this);
        }
    }
}
