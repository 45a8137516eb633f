package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.Logged;
import io.github.distributedpermit.testsupport.RedisCluster;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.cluster.SlotHash;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The rights that docs/security.md gives to the user of permits in a Cluster, with a grace after a loss of state. */
class RedisClusterRightsTest extends RedisTest {

    private static final RedisSettings SETTINGS = new RedisSettings(
                    RedisSettings.DEFAULT_PREFIX,
                    Duration.ofSeconds(30),
                    Duration.ofMillis(100),
                    Duration.ofSeconds(20))
            .withGrace(Duration.ZERO);

    private static final String TOP_LEVEL = "toplevel";
    private static final String IN_SCRIPT = "lua";

    private final RedisCluster cluster = open(RedisCluster.start());

    @Test
    void documentedRightsSufficeAlsoForASlotThatMigrates() throws IOException {
        permit(DocumentedRights.rule() + " " + DocumentedRights.inACluster());
        TestMember a = member();
        TestMember b = member();
        live(a, b);

        assertThat(afterMigration(a).others().grace()).isFalse();

        for (RedisServer node : cluster.nodes()) {
            assertThat(DocumentedRights.denials(node, TOP_LEVEL)).isSubsetOf("hello", "client", "cluster");
            assertThat(DocumentedRights.denials(node, IN_SCRIPT)).isEmpty();
        }
    }

    @Test
    void withoutTheRightToFindTheNodesAnErrorSaysSo() throws IOException {
        permit(DocumentedRights.rule());

        assertThatExceptionOfType(PermitStoreException.class)
                .isThrownBy(() -> member().queue(key(), 1, 1))
                .withMessageContaining("lacks a command, key or channel")
                .satisfies(e -> assertThat(e.isPermanent()).isTrue());
    }

    @Test
    void withoutInfoThereIsAWarningAndNoGrace() throws IOException {
        permit(DocumentedRights.rule().replace("+info ", "") + " " + DocumentedRights.inACluster());
        try (Logged logged = new Logged(ServerCheck.class)) {
            TestMember a = member();
            logged.awaitText("does not show when it loses state", "the right +info is missing");
            live(a, member());

            assertThat(a.keep(key(), 0).epoch()).isZero();
        }
    }

    private void live(TestMember a, TestMember b) {
        assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
        assertThat(b.queue(key(), 1, 1).permits()).isZero();
        a.keep(key(), 0);
        b.awaitGrant(key(), 1);
        b.keep(key(), 0);
        TestMember.answer(b.store().override(key(), OverrideLimit.of(2)));
        TestMember.answer(b.store().inspect(key()));
        assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
    }

    /** The answer to the holder of the key when its slot is on another node. */
    private Holding afterMigration(TestMember holder) {
        int slot = SlotHash.getSlot(
                RedisKey.of(RedisSettings.DEFAULT_PREFIX, key()).state());
        int from = slot * cluster.nodes().size() / SlotHash.SLOT_COUNT;
        RedisCluster.migrate(
                slot,
                cluster.nodes().get(from),
                cluster.nodes().get((from + 1) % cluster.nodes().size()));
        return await().ignoreException(PermitStoreException.class)
                .until(() -> holder.queue(key(), 2, 2), answer -> answer.permits() == 2);
    }

    private void permit(String rule) {
        cluster.nodes().forEach(node -> DocumentedRights.permit(eye(node), rule));
    }

    private TestMember member() {
        LettuceConnectionFactory factory =
                opened(cluster.connectionFactory(DocumentedRights.USER, DocumentedRights.PASSWORD));
        return open(new TestMember(factory, SETTINGS));
    }
}
