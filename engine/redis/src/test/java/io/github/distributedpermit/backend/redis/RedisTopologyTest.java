package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.testsupport.RedisCluster;
import io.github.distributedpermit.testsupport.RedisSentinel;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Members on a cluster and on servers that Sentinels watch. */
class RedisTopologyTest extends RedisTest {

    @Test
    void clusterHandsOverBetweenMembersInEverySlotRange() {
        RedisCluster cluster = open(RedisCluster.start());
        TestMember a = member(opened(cluster.connectionFactory()));
        TestMember b = member(opened(cluster.connectionFactory()));
        List<String> keys = IntStream.range(0, 30).mapToObj(i -> key() + i).toList();
        assertThat(keys.stream().mapToInt(key -> node(key)).distinct()).hasSize(3);

        for (String key : keys) {
            assertThat(a.queue(key, 1, 1).permits()).isEqualTo(1);
            assertThat(b.queue(key, 1, 1).permits()).isZero();
        }
        for (String key : keys) {
            assertThat(a.keep(key, 0).permits()).isZero();
        }
        for (String key : keys) {
            b.awaitGrant(key, 1);
            assertThat(TestMember.answer(b.store().inspect(key)).members())
                    .singleElement()
                    .satisfies(m -> assertThat(m.permits()).isEqualTo(1));
        }
        TestMember.answer(b.store().override(keys.get(0), OverrideLimit.of(0)));
        assertThat(b.keep(keys.get(0), 0).limit()).isZero();
    }

    @Test
    void slotsThatWereNeverUsedWaitForNothing() {
        RedisCluster cluster = open(RedisCluster.start());
        TestMember a = open(new TestMember(opened(cluster.connectionFactory())));
        TestMember b = open(new TestMember(opened(cluster.connectionFactory())));
        List<String> keys = IntStream.range(0, 30).mapToObj(i -> key() + i).toList();

        for (String key : keys) {
            assertThat(a.queue(key, 1, 1).permits()).as("in a new installation").isEqualTo(1);
        }
        b.lease(Duration.ofMillis(1)); // so that it has known the nodes for longer than a lease
        for (String key : keys) {
            assertThat(b.queue(key + "-other", 1, 1).permits())
                    .as("beside slots in use")
                    .isEqualTo(1);
        }

        for (RedisServer node : cluster.nodes()) {
            node.ask(RedisCommands::flushall);
        }
        for (String key : keys) {
            Holding answer = a.queue(key, 1, 1);
            assertThat(answer.permits()).as("in a slot that it remembers").isZero();
            assertThat(answer.others().grace()).isTrue();
        }
    }

    @Test
    void memberOfAClusterThatLeavesEndsNoThreadsOfTheApplication() {
        RedisCluster cluster = open(RedisCluster.start());
        LettuceConnectionFactory factory = opened(cluster.connectionFactory());
        TestMember a = member(factory);
        a.queue(key(), 1, 1);

        a.close();

        assertThat(factory.getRequiredNativeClient()
                        .getResources()
                        .eventExecutorGroup()
                        .isShuttingDown())
                .isFalse();
        assertThat(member(factory).attempt(key() + "-other", 1, 1).permits()).isEqualTo(1);
    }

    private static int node(String key) {
        return SlotHash.getSlot(RedisKey.of("permits", key).state()) * 3 / SlotHash.SLOT_COUNT;
    }

    @Test
    void sentinelsMasterTakesClaimsAndHandsOver() {
        RedisSentinel sentinel = open(RedisSentinel.start());
        LettuceConnectionFactory factory = opened(sentinel.connectionFactory());
        TestMember a = member(factory);
        TestMember b = member(factory);

        assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
        assertThat(b.queue(key(), 1, 1).permits()).isZero();
        a.keep(key(), 0);
        b.awaitGrant(key(), 1);

        assertThat(eye(sentinel.master()).keys("permits")).isNotEmpty();
    }

    @Test
    void factoryWithoutASharedConnectionWorksAsWell() {
        RedisSentinel sentinel = open(RedisSentinel.start());
        LettuceConnectionFactory factory = opened(sentinel.connectionFactory());
        factory.setShareNativeConnection(false);
        TestMember a = member(factory);

        assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
        assertThat(a.keep(key(), 0).permits()).isZero();
    }
}
