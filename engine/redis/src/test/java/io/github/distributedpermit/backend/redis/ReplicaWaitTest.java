package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Claims that count only when a real replica has confirmed them. */
class ReplicaWaitTest extends RedisTest {

    /** 15 s for the replica. */
    private static final RedisSettings PATIENT = settings(Duration.ofSeconds(60));

    /** 2 s for the replica. */
    private static final RedisSettings IMPATIENT =
            settings(Duration.ofSeconds(8)).withoutGrace();

    private final RedisServer server = open(master());

    private static RedisSettings settings(Duration commandTimeout) {
        return new RedisSettings("permits", Duration.ofSeconds(30), Duration.ofMillis(100), commandTimeout)
                .withGrace(Duration.ZERO)
                .withWaitForReplica();
    }

    static RedisServer master() {
        return RedisServer.started("--save", "", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0");
    }

    static RedisServer replicaOf(RedisServer master) {
        RedisServer replica = RedisServer.started("--save", "", "--replicaof", "127.0.0.1", "" + master.port());
        await().atMost(TestMember.PATIENCE).until(() -> isOnline(master));
        return replica;
    }

    private static boolean isOnline(RedisServer master) {
        return master.ask(commands -> commands.info("replication")).contains("state=online");
    }

    private TestMember member(RedisSettings settings) {
        return open(new TestMember(factory(server), settings));
    }

    @Test
    void aClaimCountsWhenAReplicaHasIt() {
        RedisServer replica = open(replicaOf(server));

        assertThat(member(PATIENT).queue(key(), 1, 1).permits()).isEqualTo(1);

        assertThat(hasTheKey(replica)).isTrue();
    }

    private boolean hasTheKey(RedisServer replica) {
        List<String> keys = replica.ask(commands -> commands.keys("*" + key() + "*"));
        return !keys.isEmpty();
    }

    /** The replica stands still, so that its socket takes everything and nothing is confirmed. */
    @Test
    void noAnswerCountsBeforeTheReplicaHasConfirmedIt() throws Exception {
        RedisServer replica = open(replicaOf(server));
        TestMember a = member(PATIENT);
        a.queue(key() + "-connects", 1, 1);
        CompletionStage<Holding> answer;
        signal(replica, "STOP");
        try {
            answer = a.store().claim(a.next(key(), 1, 1, 1, true));
            RedisEye eye = eye(server);
            await().atMost(TestMember.PATIENCE)
                    .untilAsserted(() -> assertThat(eye.state("permits", key())).isNotEmpty());
            assertThat(answer.toCompletableFuture()).isNotDone();
        } finally {
            signal(replica, "CONT");
        }
        assertThat(TestMember.answer(answer).permits()).isEqualTo(1);
    }

    @Test
    void withoutAReplicaNothingIsGrantedAndTheFailureSaysWhy() {
        TestMember a = member(IMPATIENT);

        PermitStoreException failure = a.failure(a.next(key(), 1, 1, 1, true));

        assertThat(failure)
                .hasMessage("No replica of Redis has confirmed the claim within 2000 ms, as "
                        + "distributed-permit.redis.wait-for-replica demands: it has none, or they lag");
        assertThat(failure.isPermanent()).isFalse();
        RedisServer replica = open(replicaOf(server));
        await().atMost(TestMember.PATIENCE)
                .ignoreExceptions()
                .until(() -> a.queue(key(), 1, 1).permits() == 1);
        assertThat(hasTheKey(replica)).isTrue();
    }

    /** Many claims in one command have one WAIT, and each of them fails. */
    @Test
    void everyClaimOfACommandFails() {
        TestMember a = member(IMPATIENT);
        CompletionStage<?>[] answers = new CompletionStage<?>[20];

        for (int i = 0; i < answers.length; i++) {
            answers[i] = a.store().claim(a.next(key() + i, 1, 1, 1, true));
        }

        for (CompletionStage<?> answer : answers) {
            assertThat(answer.toCompletableFuture())
                    .failsWithin(TestMember.PATIENCE)
                    .withThrowableThat()
                    .withMessageContaining("No replica of Redis has confirmed the claim");
        }
    }

    /** The grant is by the claim of another member, and that one does not know whether a replica has it. */
    @Test
    void memberThatIsNotifiedOfAGrantClaimsAgain() {
        open(replicaOf(server));
        TestMember a = member(PATIENT);
        TestMember b = member(PATIENT);
        a.queue(key(), 1, 1);
        assertThat(b.queue(key(), 1, 1).permits()).isZero();

        a.keep(key(), 0);

        await().atMost(TestMember.PATIENCE).until(() -> b.recorder().changes().contains(key()));
        assertThat(b.recorder().grants()).doesNotContainKey(key());
        assertThat(b.queue(key(), 1, 1).permits()).isEqualTo(1);
    }

    /** What a member confirms includes what others wrote before, because each claim writes. */
    @Test
    void aClaimThatRepeatsWhatIsRecordedWritesToo() {
        open(replicaOf(server));
        TestMember a = member(PATIENT);
        a.queue(key(), 1, 1);
        for (int i = 0; i < 3; i++) {
            long before = changes();
            a.queue(key(), 1, 1);
            assertThat(changes()).isGreaterThan(before);
        }
    }

    /** From Redis 7.2 on WAIT compares with the last command of the connection that wrote. */
    @Test
    void aClaimThatIsOutOfDateWritesToo() {
        open(replicaOf(server));
        TestMember a = member(PATIENT);
        Claim claim = a.next(key(), 1, 1, 1, true);
        TestMember.answer(a.store().claim(claim));
        long before = changes();

        assertThat(TestMember.answer(a.store().claim(claim)).permits()).isEqualTo(1);

        assertThat(changes()).isGreaterThan(before);
    }

    /** A claim would get the permits again, so that no call would lose them. */
    @Test
    void evictionIsPassedOnAsALoss() {
        open(replicaOf(server));
        TestMember a = member(PATIENT);
        a.queue(key(), 1, 1);

        TestMember.answer(a.store().evict(key(), a.id()));

        a.awaitGrant(key(), 0);
        assertThat(a.recorder().changes()).doesNotContain(key());
    }

    /** The claim of the first key fails the command, so that each of the others is sent alone. */
    @Test
    void claimsThatAreSentAloneWaitTogether() {
        RedisServer replica = open(replicaOf(server));
        TestMember a = member(PATIENT);
        a.queue(key() + "-connects", 1, 1);
        eye(server).commands().set("permits:{" + RedisKey.of("permits", key()).encoded() + "}:state", new byte[] {1});
        long before = waits();
        List<CompletionStage<Holding>> answers = new ArrayList<>();

        for (int i = 0; i < 40; i++) {
            answers.add(a.store().claim(a.next(i == 0 ? key() : key() + i, 1, 1, 1, true)));
        }

        assertThat(answers.get(0).toCompletableFuture())
                .failsWithin(TestMember.PATIENCE)
                .withThrowableThat()
                .withMessageContaining("not a permit");
        for (CompletionStage<Holding> answer : answers.subList(1, 40)) {
            assertThat(TestMember.answer(answer).permits()).isEqualTo(1);
        }
        assertThat(waits() - before).isLessThan(30);
        assertThat(hasTheKey(replica)).isTrue();
    }

    private long waits() {
        return server.ask(commands -> commands.info("commandstats"))
                .lines()
                .filter(line -> line.startsWith("cmdstat_wait:calls="))
                .mapToLong(line -> Long.parseLong(line.replaceAll(".*calls=(\\d+).*", "$1")))
                .sum();
    }

    /** The offset of the replication would grow by {@code WAIT} itself. */
    private long changes() {
        return server.ask(commands -> commands.info("persistence"))
                .lines()
                .filter(line -> line.startsWith("rdb_changes_since_last_save:"))
                .mapToLong(line ->
                        Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
                .sum();
    }

    @Test
    void missingRightIsReported() {
        open(replicaOf(server));
        eye(server).acl("SETUSER", "someone", "on", ">secret", "~*", "&*", "+@all", "-wait");
        TestMember a = open(new TestMember(opened(server.connectionFactory("someone", "secret")), IMPATIENT));

        PermitStoreException failure = a.failure(a.next(key(), 1, 1, 1, true));

        assertThat(failure.isPermanent()).isTrue();
        assertThat(failure).hasMessageContaining("lacks a command, key or channel");
    }

    @Test
    void clusterIsRefused() {
        LettuceConnectionFactory cluster =
                new LettuceConnectionFactory(new RedisClusterConfiguration().clusterNode("127.0.0.1", 1));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RedisPermitBackend(cluster, PATIENT, System::nanoTime))
                .withMessageContaining("can't wait for a replica in a Redis Cluster");
    }

    /** A member that gives up its claim does not wait for the replica. */
    @Test
    void withdrawnClaimFreesThePlaceOfItsCommand() throws Exception {
        RedisServer replica = open(replicaOf(server));
        TestMember a = member(PATIENT);
        a.queue(key() + "-connects", 1, 1);
        signal(replica, "STOP");
        Claim withdrawn = a.next(key(), 1, 1, 1, true);
        CompletionStage<Holding> answer = a.store().claim(withdrawn);
        answer.toCompletableFuture().cancel(false);
        signal(replica, "CONT");

        for (int i = 0; i < 5; i++) {
            assertThat(a.queue(key() + i, 1, 1).permits()).isEqualTo(1);
        }
    }

    private static void signal(RedisServer server, String name) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(server.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }
}
