package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.testsupport.Detour;
import io.github.distributedpermit.testsupport.Logged;
import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A Redis that takes long for each answer, and answers within the command time-out. */
class SlowRedisTest extends RedisTest {

    private static final int CLAIMS = 12;

    /** The defaults, with which the connection is looked at four times a second and the subscription seldom. */
    private static final RedisSettings SETTINGS = new RedisSettings(
                    "permits", Duration.ofSeconds(30), Duration.ofSeconds(5), Duration.ofSeconds(5))
            .withGrace(Duration.ZERO)
            .withoutGrace();

    private final RedisServer server = open(RedisServer.started("--save", ""));

    /** Another connection would be as slow, and to make one takes several answers. */
    @Test
    void connectionThatIsAnsweredSlowlyIsKeptAndIsNoFailure() {
        Detour way = open(new Detour(server.port()));
        TestMember member = open(new TestMember(opened(RedisServer.connectionFactory(way.port())), SETTINGS));
        member.keep(key(), 0);
        try (Logged logged = new Logged(ConnectionManager.class)) {
            way.delay(Duration.ofMillis(700));
            for (int i = 0; i < CLAIMS; i++) {
                member.keep(key(), 0);
            }
            assertThat(logged.texts()).isEmpty();
        }
    }
}
