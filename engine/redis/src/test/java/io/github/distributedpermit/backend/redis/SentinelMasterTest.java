package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.testsupport.RedisSentinel;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.KillArgs;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Members follow the Sentinels, whether the former master answers or not. */
class SentinelMasterTest extends RedisTest {

    private static final Duration FAIL_OVER = Duration.ofSeconds(90);

    /** After the promotion. Without the Sentinels it takes half a minute and more. */
    private static final Duration SOON = Duration.ofSeconds(25);

    private final RedisSentinel sentinel = open(RedisSentinel.start(1));
    private final RedisServer promoted = sentinel.replicas().get(0);

    @Test
    void frozenMasterIsLeftWhenAnotherIsPromoted() throws Exception {
        TestMember a = impatientMember(opened(sentinel.connectionFactory()));
        a.queue(key(), 1, 1);
        awaitReplicaKnown();

        try {
            freezeMaster();
            awaitPromotion();
            awaitAnswer(a);
            RedisFaultTest.awaitSubscribed(eye(promoted), a);
        } finally {
            signal("-CONT");
        }
    }

    @Test
    void masterThatStillAnswersIsLeftWhenTheSentinelNamesAnother() {
        TestMember a = impatientMember(opened(sentinel.connectionFactory()));
        a.queue(key(), 1, 1);
        awaitReplicaKnown();

        sentinel("FAILOVER");
        awaitPromotion();

        RedisFaultTest.awaitSubscribed(eye(promoted), a);
        awaitAnswer(a);
    }

    @Test
    void memberThatLeavesAFrozenMasterClosesItForOthers() throws Exception {
        TestMember a = open(new TestMember(opened(sentinel.connectionFactory())));
        awaitReplicaKnown(); // its attachment changes the epoch
        long epoch = a.queue(key(), 1, 1).epoch();

        try {
            signal("-STOP");
            awaitPromotion();
            await().atMost(SOON).ignoreExceptions().until(() -> {
                CompletableFuture<Holding> claim =
                        a.store().claim(a.next("probe", 1, 1, 1, true)).toCompletableFuture();
                return claim.get(SOON.toSeconds(), TimeUnit.SECONDS).epoch() != epoch;
            });
        } finally {
            signal("-CONT");
        }

        RedisEye old = eye(sentinel.master());
        await("before the Sentinel makes it a replica")
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> closedEpoch(old) == (int) epoch);
    }

    /** As after two fail-overs within seconds, of which the former master has missed that it was to follow the other one. */
    @Test
    void closedMasterThatTheSentinelsHaveChosenAgainIsOpened() {
        TestMember a = open(new TestMember(opened(sentinel.connectionFactory()), TestMember.SETTINGS))
                .lease(Duration.ofMillis(500));
        a.queue(key(), 1, 1);
        awaitReplicaKnown();
        sentinel("FAILOVER");
        awaitPromotion(); // by the first vote
        await().atMost(FAIL_OVER)
                .until(() ->
                        promoted.ask(commands -> commands.info("replication").contains("role:master")));
        awaitAnswer(a); // the grace is over
        long epoch = a.keep(key(), 1).epoch();
        RedisEye eye = eye(promoted);
        Long closed = eye.commands()
                .eval(
                        Script.CLOSE.source(),
                        ScriptOutputType.INTEGER,
                        new String[] {"permits:lineage"},
                        Long.toString(epoch).getBytes(StandardCharsets.US_ASCII),
                        "0".getBytes(StandardCharsets.US_ASCII));
        assertThat(closed).isEqualTo(1);
        assertThat(closedEpoch(eye)).isEqualTo((int) epoch);

        awaitAnswer(a);

        assertThat(a.keep(key(), 1).epoch()).as("its records count no more").isNotEqualTo(epoch);
    }

    private static int closedEpoch(RedisEye eye) {
        byte[] lineage = eye.commands().get("permits:lineage");
        return lineage == null
                ? 0
                : ByteBuffer.wrap(lineage).order(ByteOrder.LITTLE_ENDIAN).getInt(4);
    }

    /** The thread that replaces connections may be busy for seconds; the application's code is one reason. */
    @Test
    void answersOfTheOldMasterDoNotCountWhileTheThreadOfTheConnectionIsBusy() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch free = new CountDownLatch(1);
        AtomicBoolean blocks = new AtomicBoolean();
        TestMember a = open(new TestMember(opened(sentinel.connectionFactory()), TestMember.IMPATIENT, () -> {
            if (blocks.get()) {
                busy.countDown();
                free.await();
            }
        }));
        RedisFaultTest.awaitWorking(a);
        a.queue(key(), 1, 1);
        awaitReplicaKnown();
        blocks.set(true);
        sentinel.master()
                .ask(commands ->
                        commands.clientKill(KillArgs.Builder.typeNormal().skipme(true)));
        assertThat(busy.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();

        try {
            freezeMaster();
            CompletableFuture<Holding> unanswered =
                    a.store().claim(a.next(key(), 1, 1, 1, true)).toCompletableFuture();
            awaitPromotion();
            assertThat(unanswered)
                    .failsWithin(SOON)
                    .withThrowableOfType(ExecutionException.class); // before its server can answer
        } finally {
            signal("-CONT");
            free.countDown();
        }

        awaitAnswer(a);
        RedisFaultTest.awaitSubscribed(eye(promoted), a);
    }

    @Test
    void silentOrDeadSentinelCostsNoPermit() {
        TestMember a = impatientMember(opened(sentinel.connectionFactory()));
        a.queue(key(), 1, 1);

        sentinel.sentinel().stop();

        assertThat(a.keep(key(), 1).permits()).isEqualTo(1);
        int before = a.recorder().reached();
        sentinel.master()
                .ask(commands ->
                        commands.clientKill(KillArgs.Builder.typeNormal().skipme(true)));
        await().atMost(SOON).until(() -> a.recorder().reached() > before);
        awaitAnswer(a);
        sentinel.sentinel().start();
    }

    private void awaitAnswer(TestMember member) {
        await().atMost(FAIL_OVER).ignoreExceptions().until(() -> {
            CompletableFuture<Holding> claim =
                    member.store().claim(member.next("probe", 1, 1, 1, true)).toCompletableFuture();
            return claim.get(SOON.toSeconds(), TimeUnit.SECONDS).permits() == 1;
        });
    }

    private void awaitReplicaKnown() {
        await().atMost(FAIL_OVER).until(() -> sentinel("REPLICAS").toString().contains("" + promoted.port()));
        await().atMost(FAIL_OVER)
                .until(() ->
                        promoted.ask(commands -> commands.info("replication").contains("link_status:up")));
    }

    private void awaitPromotion() {
        await().atMost(FAIL_OVER)
                .until(() -> sentinel("GET-MASTER-ADDR-BY-NAME").contains(Integer.toString(promoted.port())));
    }

    private List<Object> sentinel(String command) {
        return sentinel.sentinel()
                .ask(commands -> commands.dispatch(
                        CommandType.SENTINEL,
                        new ArrayOutput<>(StringCodec.UTF8),
                        new CommandArgs<>(StringCodec.UTF8).add(command).add(RedisSentinel.NAME)));
    }

    /** The Sentinel finds out sooner than usual, so that the test takes no longer than it must. */
    private void freezeMaster() throws Exception {
        sentinel.sentinel()
                .ask(commands -> commands.dispatch(
                        CommandType.SENTINEL,
                        new StatusOutput<>(StringCodec.UTF8),
                        new CommandArgs<>(StringCodec.UTF8)
                                .add("SET")
                                .add(RedisSentinel.NAME)
                                .add("down-after-milliseconds")
                                .add(1_000)));
        signal("-STOP");
    }

    private void signal(String signal) throws Exception {
        Process kill = new ProcessBuilder(
                        "kill", signal, Long.toString(sentinel.master().pid()))
                .start();
        assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }
}
