package io.github.distributedpermit.backend.redis;

import static io.github.distributedpermit.backend.redis.TestMember.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.KeyList;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.RedisCluster;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** A key in use while its hash slot is being moved to another master of a Cluster. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RedisClusterMoveTest extends RedisTest {

    private final RedisCluster cluster = RedisCluster.start();
    private final int slot = SlotHash.getSlot(RedisKey.of("permits", key()).state());
    private final int first = slot * 3 / SlotHash.SLOT_COUNT;

    /** The master that has the slot, then the one that will have it. */
    private List<RedisServer> nodes = List.of();

    @BeforeEach
    void order() {
        nodes = nodes.isEmpty()
                ? List.of(cluster.nodes().get(first), cluster.nodes().get((first + 1) % 3))
                : nodes;
        nodes.get(0).ask(commands -> commands.flushall());
    }

    @AfterAll
    void stop() {
        cluster.close();
    }

    /** A slot with much other data is open for long before the keys of the permit move. */
    @Test
    void everythingWorksWhileTheSlotIsOpen() {
        TestMember a = member(opened(cluster.connectionFactory()));
        TestMember b = member(opened(cluster.connectionFactory()));
        assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
        RedisCluster.openSlot(slot, nodes.get(0), nodes.get(1));

        assertThat(a.keep(key(), 1).permits()).as("renewed").isEqualTo(1);
        assertThat(b.attempt(key(), 1, 1).permits()).isZero();
        assertThat(b.queue(key(), 1, 1).permits()).isZero();
        assertThat(TestMember.answer(a.store().inspect(key())).members()).hasSize(2);
        assertThat(a.keep(key(), 0).permits()).isZero();
        b.awaitGrant(key(), 1);
        TestMember.answer(b.store().override(key(), OverrideLimit.of(2)));
        assertThat(a.attempt(key(), 1, 1).permits()).isEqualTo(1);
        TestMember.answer(b.store().override(key(), OverrideLimit.empty()));
        assertThat(a.keep(key(), 0).permits()).isZero();
        assertThat(b.lease(Duration.ofHours(1)).keep(key(), 1).permits())
                .as("with a longer life of the key")
                .isEqualTo(1);
        assertThat(TestMember.answer(a.store().evict(key(), b.id()))).isEqualTo(1);

        moveKeys();
        assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
    }

    @Test
    void keysOfAllMastersAreListedForOperators() {
        TestMember a = member(opened(cluster.connectionFactory()));
        List<String> keys =
                IntStream.range(0, 60).mapToObj(i -> key() + "-" + i).toList();
        keys.forEach(each -> assertThat(a.queue(each, 1, 1).permits()).isEqualTo(1));
        assertThat(keys.stream()
                        .map(each ->
                                SlotHash.getSlot(RedisKey.of("permits", each).state()) * 3 / SlotHash.SLOT_COUNT)
                        .distinct())
                .as("masters")
                .hasSize(3);
        KeyList all = TestMember.answer(a.store().keys(1_000));
        assertThat(all.keys()).containsAll(keys);
        assertThat(all.more()).isFalse();
        KeyList some = TestMember.answer(a.store().keys(10));
        assertThat(some.keys()).hasSize(10);
        assertThat(some.more()).isTrue();
    }

    @Test
    void noPermitIsLostWhileTheKeysMoveOneByOne() throws Exception {
        TestMember holder = member(opened(cluster.connectionFactory()));
        TestMember a = member(opened(cluster.connectionFactory()));
        TestMember b = member(opened(cluster.connectionFactory()));
        assertThat(holder.queue(key(), 2, 1).permits()).isEqualTo(1);
        AtomicInteger turns = new AtomicInteger();
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<Void> load = CompletableFuture.runAsync(() -> {
            while (!ended.get()) {
                for (TestMember each : List.of(a, b)) {
                    repeat(() -> each.queue(key(), 2, 1), 1);
                    repeat(() -> each.keep(key(), 0), 0);
                }
                turns.incrementAndGet();
            }
        });

        RedisCluster.openSlot(slot, nodes.get(0), nodes.get(1));
        int before = turns.get();
        await().atMost(PATIENCE).until(() -> turns.get() > before + 10);
        for (String name : RedisCluster.keysIn(slot, nodes.get(0))) {
            RedisCluster.moveKey(name, nodes.get(0), nodes.get(1));
        }
        int moved = turns.get();
        await().atMost(PATIENCE).until(() -> turns.get() > moved + 10);
        assign();
        int after = turns.get();
        await().atMost(PATIENCE).until(() -> turns.get() > after + 10);
        ended.set(true);
        load.get();

        Holding kept = holder.keep(key(), 1);
        assertThat(kept.permits()).isEqualTo(1);
        assertThat(kept.others().grace()).isFalse();
        assertThat(TestMember.answer(a.store().inspect(key())).used()).isEqualTo(1);
    }

    /** If one of them expired before the others, it would be missing in an open slot. */
    @Test
    void allKeysOfAPermitExpireTogetherUnlessAnOperatorHasSetALimit() {
        TestMember a = member(opened(cluster.connectionFactory())).lease(Duration.ofSeconds(30));
        for (int i = 0; i < 3; i++) {
            a.queue(key(), 3, 1 + i);
            a.keep(key(), 1);
        }
        assertThat(expiries()).as("in use").hasSize(5).doesNotContain(-1L);
        TestMember.answer(a.store().override(key(), OverrideLimit.of(2)));
        a.lease(Duration.ofHours(1)).keep(key(), 1);
        assertThat(expiries()).as("with an override").hasSize(5).containsOnlyOnce(-1L);
        TestMember.answer(a.store().override(key(), OverrideLimit.empty()));
        a.keep(key(), 0);

        assertThat(expiries()).as("not in use").hasSize(5).doesNotContain(-1L);
        assertThat(expiries().stream().mapToLong(Long::longValue).summaryStatistics())
                .satisfies(all -> assertThat(all.getMax() - all.getMin())
                        .isLessThan(Duration.ofSeconds(20).toMillis()));
    }

    /** The life that each key of the permit has left, in milliseconds. */
    private List<Long> expiries() {
        return RedisCluster.keysIn(slot, nodes.get(0)).stream()
                .filter(name -> !name.endsWith(":lineage"))
                .map(name -> nodes.get(0).ask(commands -> commands.pttl(name)))
                .toList();
    }

    /** Redis creates nothing in an open slot with a command of several keys, so a key that is not in use has to wait. */
    @Test
    void keyThatIsNotInUseWaitsUntilTheSlotHasMoved() {
        TestMember a = member(opened(cluster.connectionFactory()));
        a.queue(key(), 1, 1);
        a.keep(key(), 0);
        nodes.get(0)
                .ask(commands -> commands.del(RedisCluster.keysIn(slot, nodes.get(0)).stream()
                        .filter(name -> !name.endsWith(":lineage"))
                        .toArray(String[]::new)));
        RedisCluster.openSlot(slot, nodes.get(0), nodes.get(1));

        PermitStoreException refused = a.failure(a.next(key(), 1, 1, 1, true));

        assertThat(refused.isPermanent()).isFalse();
        assertThat(refused).hasMessageContaining("TRYAGAIN").hasMessageContaining("slot is being moved");
        moveKeys();
        repeat(() -> a.queue(key(), 1, 1), 1);
    }

    private void moveKeys() {
        RedisCluster.keysIn(slot, nodes.get(0)).forEach(key -> RedisCluster.moveKey(key, nodes.get(0), nodes.get(1)));
        assign();
    }

    private void assign() {
        RedisCluster.assignSlot(slot, nodes.get(0), nodes.get(1));
        nodes = List.of(nodes.get(1), nodes.get(0));
    }

    /** As the core does after a passing failure. */
    private static void repeat(java.util.function.Supplier<Holding> claim, int permits) {
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(1))
                .ignoreExceptionsMatching(e -> e instanceof PermitStoreException failure && !failure.isPermanent())
                .until(() -> claim.get().permits() == permits);
    }
}
