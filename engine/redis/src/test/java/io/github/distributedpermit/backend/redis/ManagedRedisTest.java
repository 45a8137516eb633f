package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.testsupport.Logged;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Services that offer Redis without {@code INFO}, or without what it says elsewhere: there is no grace, and nothing else is missing. */
class ManagedRedisTest extends RedisTest {

    @Test
    void withoutInfoThereIsAWarningAndNoGrace() {
        RedisServer server = open(RedisServer.started("--rename-command", "INFO", ""));
        try (Logged logged = new Logged(ServerCheck.class)) {
            TestMember a = graced(server);
            logged.awaitText("does not show when it loses state", "the service does not offer it");
            TestMember b = graced(server);

            assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
            assertThat(b.queue(key(), 1, 1).permits()).isZero();
            a.keep(key(), 0);
            b.awaitGrant(key(), 1);
            server.ask(RedisCommands::flushall);
            Holding afterLoss = a.queue(key(), 1, 1);
            assertThat(afterLoss.permits()).isEqualTo(1);
            assertThat(afterLoss.others().grace()).isFalse();
            assertThat(afterLoss.epoch()).isZero();
        }
    }

    @Test
    void withoutAReplicationIdThereIsNoGrace() {
        RedisServer server = open(RedisServer.started());
        try (ScriptedKey.Server scripted = new ScriptedKey.Server(server)) {
            ScriptedKey key = scripted.key(
                    "managed",
                    new String(Script.CLAIMS.source(), StandardCharsets.UTF_8),
                    new String(Script.OVERRIDE.get().source(), StandardCharsets.UTF_8));
            scripted.setClock(1_000_000_000_000_000L);
            scripted.setNoIdentity();

            assertThat(claim(key, 1).permits()).isEqualTo(1);
            key.delete(true, true);
            Holding afterLoss = claim(key, 2);
            assertThat(afterLoss.permits()).isEqualTo(1);
            assertThat(afterLoss.others().grace()).isFalse();
            assertThat(afterLoss.epoch()).isZero();
        }
    }

    private static Holding claim(ScriptedKey key, long sequence) {
        key.claim(
                StepForms.member(0),
                Claim.of("key", sequence, Duration.ofMinutes(1))
                        .wanted(1)
                        .queued(1)
                        .reclaim(Claim.Reclaim.of(0, 0).checking()),
                0,
                false,
                true);
        return Objects.requireNonNull(key.takeEffect().answer());
    }

    private TestMember graced(RedisServer server) {
        return open(new TestMember(factory(server), TestMember.SETTINGS.withGrace(Duration.ofMinutes(1))));
    }
}
