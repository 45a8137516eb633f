package io.github.distributedpermit.backend.redis;

import static io.github.distributedpermit.backend.redis.TestMember.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.Logged;
import io.github.distributedpermit.testsupport.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A server of which a command was renamed, as some managed services and proxies do. */
class MissingCommandTest extends RedisTest {

    @Test
    void withoutSubscribePermitsWorkAndLogAndHealthSayWhatDoesNot() {
        try (Logged logged = new Logged(ConnectionManager.class)) {
            RedisServer server = without("SUBSCRIBE");
            TestMember a = member(factory(server));
            TestMember b = member(factory(server));

            assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
            assertThat(b.queue(key(), 1, 1).permits()).isZero();
            a.keep(key(), 0);
            assertThat(b.queue(key(), 1, 1).permits()).as("by the re-check").isEqualTo(1);

            logged.awaitText("does not notify this instance", "the command SUBSCRIBE", "Permits work");
            assertThat(logged.texts()).noneMatch(text -> text.contains("Permits in Redis do not work"));
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(a.store().problem())
                            .hasValueSatisfying(problem -> assertThat(problem)
                                    .contains(
                                            "no notifications", "the command SUBSCRIBE", "permits are granted late")));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "EVALSHA, the command EVALSHA",
        "ZADD, a command that permits need",
        "HMGET, a command that permits need"
    })
    void whatIsMissingIsNamedAndCallsDoNotWait(String command, String named) {
        TestMember a = member(factory(without(command)));

        PermitStoreException refused = a.failure(a.next(key(), 1, 1, 1, true));

        assertThat(refused.isPermanent()).isTrue();
        assertThat(refused).hasMessageContaining(named).hasMessageContaining("docs/security.md");
    }

    private RedisServer without(String command) {
        return open(RedisServer.started("--rename-command", command, "NO" + command));
    }
}
