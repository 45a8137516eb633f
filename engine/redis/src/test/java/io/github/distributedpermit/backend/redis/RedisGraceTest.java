package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A real server loses state, and gives members back what they hold before it grants anything else. */
class RedisGraceTest extends RedisTest {

    private static final Duration LEASE = Duration.ofMinutes(1);
    private static final Duration SHORT_LEASE = Duration.ofSeconds(6);
    private static final RedisSettings SETTINGS = TestMember.SETTINGS;
    private static final int ATTEMPTS = 3;

    private final RedisServer server = open(RedisServer.started("--save", "", "--repl-diskless-sync", "yes"));
    private final TestMember a = graced(server);
    private final TestMember b = graced(server);

    private TestMember graced(RedisServer at) {
        return open(new TestMember(factory(at), SETTINGS));
    }

    @Test
    void newInstallationAndNewKeysWaitForNothing() {
        Holding first = claim(a, key(), 1, 0, 0);

        assertThat(first.permits()).isEqualTo(1);
        assertThat(first.others().grace()).isFalse();
        assertThat(first.epoch()).isNotZero();
        assertThat(claim(b, key() + "-other", 1, 0, 0).permits()).isEqualTo(1);
    }

    @Test
    void serverThatHasJustStartedWaitsForTheSetTimeAtMost() {
        Duration wait = Duration.ofSeconds(30);
        server.stop();
        server.start();
        long started = System.nanoTime();
        TestMember first = open(new TestMember(factory(server), TestMember.SETTINGS.withGrace(wait)));
        Duration age = Duration.ofNanos(System.nanoTime() - started);

        Holding waiting = first.queue(key(), 1, 1);

        assertThat(waiting.others().grace()).isTrue();
        assertThat(waiting.others().recheckAfter())
                .hasValueSatisfying(rest -> assertThat(rest.plus(age)).isLessThanOrEqualTo(wait.plusMillis(1)));
    }

    @Test
    void emptiedServerGivesPermitsBackToThoseWhoHoldThem() {
        Holding held = claim(a, key(), 1, 0, 0);
        claim(b, key() + "-other", 1, 0, 0);

        long epoch = flush(held.epoch());

        assertRejectedInGrace(claim(b, key(), 1, 0, 0));
        assertThat(claim(a, key(), 1, 1, epoch).permits()).isEqualTo(1);
        assertRejectedInGrace(claim(b, key(), 1, 0, epoch));
        claim(a, key(), 0, 0, epoch);
        assertThat(claim(b, key(), 1, 0, epoch).permits()).isEqualTo(1); // it came back and was returned
    }

    /** The epoch of the server is the same before and after, so that the lineage must tell the two apart. */
    @Test
    void claimFromBeforeAFlushReclaimsNothing() {
        Holding held = claim(a, key(), 1, 0, 0);

        long epoch = flush(held.epoch());

        assertThat(epoch).isNotEqualTo(held.epoch());
        assertThat(epoch >>> 16).as("of the same server").isEqualTo(held.epoch() >>> 16);
        assertRejectedInGrace(claim(a, key(), 1, 1, held.epoch()));
        assertThat(claim(a, key(), 1, 1, epoch).permits()).isEqualTo(1);
    }

    /** Its permits have expired on the way, so that a member which has not come back yet may hold them. */
    @Test
    void claimThatWasOnItsWayForLongerThanItsLeaseReclaimsNothing() {
        Duration moment = Duration.ofMillis(20);
        Holding held = claim(a, key(), 1, 0, 0, moment);
        long epoch = flush(held.epoch());
        assertThat(claim(b, key(), 1, 1, epoch).permits()).isEqualTo(1);
        String clock = key() + "-clock";
        long lost = claim(b, clock, 0, 0, epoch).version();
        await().until(() -> claim(b, clock, 0, 0, epoch).version() > lost + TimeUnit.MICROSECONDS.convert(moment));

        assertRejectedInGrace(claim(a, key(), 1, 1, epoch, moment));

        claim(a, key(), 0, 0, epoch, moment);
        assertRejectedInGrace(claim(a, key(), 1, 0, epoch));
    }

    /** The member that is the first after it has just started, and remembers nothing. */
    @Test
    void flushIsNoticedWhenAMemberComesThatRemembersMore() {
        Holding held = claim(a, key(), 2, 0, 0);
        server.ask(RedisCommands::flushall);
        assertThat(claim(b, key(), 1, 0, 0).permits()).isEqualTo(1);

        Holding foreign = claim(a, key() + "-other", 1, 0, held.epoch());

        assertThat(foreign.others().grace()).isTrue();
    }

    /** A member that has just started was served before one showed by another key that the server had lost its data. */
    @Test
    void lossThatAnotherKeyShowsBeginsAGraceOfThisOne() {
        Holding held = claim(a, key(), 1, 0, 0);
        server.ask(RedisCommands::flushall);
        TestMember c = graced(server);
        assertThat(claim(b, key(), 1, 0, 0).permits()).isEqualTo(1);
        long epoch = claim(a, key() + "-other", 1, 0, held.epoch()).epoch();

        assertRejectedInGrace(claim(c, key(), 1, 0, 0));
        assertRejectedInGrace(claim(b, key(), 2, 1, epoch), 1);
        assertThat(claim(a, key(), 1, 1, epoch).permits()).isEqualTo(1);
    }

    /** A rolling update changes the lease, so that both are in use. */
    @Test
    void emptiedServerWaitsForTheLongestLeaseWhoeverClaimsFirst() {
        claim(a, key(), 1, 0, 0, LEASE);
        claim(b, key() + "-other", 1, 0, 0, SHORT_LEASE);
        server.ask(RedisCommands::flushall);

        assertRejectedInGrace(claim(b, key(), 1, 0, 0, SHORT_LEASE));

        assertThat(grace()).isEqualTo(LEASE);
    }

    /** The records say that the lease was longer, and are void. */
    @Test
    void restartedServerWaitsForTheLongestLeaseInItsData() {
        RedisServer persistent =
                open(RedisServer.started("--save", "", "--appendonly", "yes", "--appendfsync", "always"));
        claim(graced(persistent), key(), 1, 0, 0, LEASE);

        persistent.stop();
        persistent.start();

        TestMember started = graced(persistent);
        assertRejectedInGrace(await().ignoreException(PermitStoreException.class)
                .until(() -> claim(started, key(), 1, 0, 0, SHORT_LEASE), answer -> true));
        assertThat(grace(persistent)).isEqualTo(LEASE);
    }

    private Duration grace() {
        return grace(server);
    }

    /** How long the grace of the key lasts, from its start to its end. */
    private Duration grace(RedisServer of) {
        byte[] packed = eye(of).state("permits", key()).getOrDefault("+", new byte[2 * Double.BYTES]);
        ByteBuffer in = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
        double start = in.getDouble();
        return Duration.of((long) (in.getDouble() - start), ChronoUnit.MICROS);
    }

    @Test
    void closeScriptClosesOnlyTheEpochItIsGiven() {
        long epoch = claim(a, key(), 1, 0, 0).epoch();

        assertThat(close(epoch + 1, 1)).isZero();
        assertThat(claim(a, key(), 1, 1, epoch).permits()).isEqualTo(1);
        assertThat(close(epoch, 1)).isEqualTo(1);
        assertThatExceptionOfType(PermitStoreException.class)
                .isThrownBy(() -> claim(a, key(), 1, 1, epoch))
                .withMessageContaining("DPMOVED");

        server.stop();
        server.start();
        await().ignoreException(PermitStoreException.class)
                .atMost(TestMember.PATIENCE)
                .until(() -> claim(a, key(), 1, 1, epoch).epoch() != epoch);
    }

    /** It was made the master again before it followed the other one, so that its replication id is the same. */
    @Test
    void openScriptOpensAServerThatALaterVoteHasChosenAndVoidsItsRecords() {
        long epoch = claim(a, key(), 1, 0, 0).epoch();
        assertThat(close(epoch, 4)).isEqualTo(1);
        assertThat(close(epoch, 3))
                .as("by a member that knows of an earlier vote")
                .isEqualTo(1);

        assertThat(open(4)).isZero();
        assertThatExceptionOfType(PermitStoreException.class)
                .isThrownBy(() -> claim(a, key(), 1, 1, epoch))
                .withMessageContaining("DPMOVED");
        assertThat(open(5)).isEqualTo(1);
        assertThat(open(6)).as("it is open").isZero();

        assertRejectedInGrace(claim(b, key(), 1, 0, 0));
        Holding foreign = claim(a, key(), 1, 1, epoch);
        assertThat(foreign.epoch()).isNotEqualTo(epoch);
        assertThat(claim(a, key(), 1, 1, foreign.epoch()).permits()).isEqualTo(1);
        assertThat(close(epoch, 7)).as("a request from before is late").isZero();
        assertThat(close(foreign.epoch(), 7)).isEqualTo(1);
    }

    /** The id also changes when the first replica comes, or the last one has been away for long: neither loses anything. */
    @Test
    void closedServerStaysClosedWhenOnlyItsReplicationIdChanges() {
        long epoch = claim(a, key(), 1, 0, 0).epoch();
        assertThat(close(epoch, 4)).isEqualTo(1);
        String before = replicationId();
        RedisServer replica = open(RedisServer.started("--save", ""));
        replica.ask(commands -> commands.replicaof("127.0.0.1", server.port()));
        await().atMost(TestMember.PATIENCE).until(() -> !replicationId().equals(before));

        for (int i = 0; i < 2; i++) {
            assertThatExceptionOfType(PermitStoreException.class)
                    .isThrownBy(() -> claim(b, key(), 1, 0, 0))
                    .withMessageContaining("DPMOVED");
        }

        assertThat(open(4)).as("by the vote that closed it").isZero();
        assertThat(open(5)).isEqualTo(1);
        assertRejectedInGrace(claim(b, key(), 1, 0, 0));
        long opened = claim(a, key(), 1, 1, epoch).epoch();
        assertThat(claim(a, key(), 1, 1, opened).permits()).isEqualTo(1);
    }

    private String replicationId() {
        return server.ask(commands -> commands.info("replication"))
                .lines()
                .filter(line -> line.startsWith("master_replid:"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void closedServerServesNobodyByAnOverride() {
        long epoch = claim(a, key(), 1, 0, 0).epoch();
        b.queue(key(), 1, 1);
        assertThat(close(epoch, 1)).isEqualTo(1);

        a.store().override(key(), OverrideLimit.of(2)).toCompletableFuture().join();

        assertThat(TestMember.answer(a.store().inspect(key())).used()).isEqualTo(1);
    }

    private long close(long epoch, long vote) {
        return run(Script.CLOSE, Long.toString(epoch), Long.toString(vote));
    }

    private long open(long vote) {
        return run(Script.OPEN, Long.toString(vote));
    }

    private long run(Script script, String... arguments) {
        return eye(server)
                .commands()
                .eval(
                        script.source(),
                        ScriptOutputType.INTEGER,
                        new String[] {"permits:lineage"},
                        Arrays.stream(arguments)
                                .map(argument -> argument.getBytes(StandardCharsets.US_ASCII))
                                .toArray(byte[][]::new));
    }

    @Test
    void evictedPermitsDoNotCountTwice() {
        long epoch = claim(a, key(), 1, 0, 0).epoch();
        claim(b, key(), 1, 0, 0);
        epoch = flush(epoch);
        assertThat(claim(a, key(), 1, 1, epoch).permits()).isEqualTo(1);

        TestMember.answer(a.store().evict(key(), a.id()));

        assertThat(claim(a, key(), 1, 1, epoch).permits())
                .as("claimed before the notification")
                .isEqualTo(1);
        TestMember c = graced(server);
        assertThat(claim(c, key(), 1, 0, 0).permits())
                .as("b may hold the other")
                .isZero();
        assertThat(claim(b, key(), 1, 1, epoch).permits()).isEqualTo(1);
    }

    @Test
    void graceShowsNoMoreWhenAllPermitsCameBack() {
        long epoch = claim(a, key(), 1, 0, 0).epoch();
        claim(b, key(), 1, 0, 0);

        epoch = flush(epoch);

        assertThat(claim(a, key(), 1, 1, epoch).others().grace()).isTrue();
        Holding last = claim(b, key(), 1, 1, epoch);
        assertThat(last.permits()).isEqualTo(1);
        assertThat(last.others().grace()).isFalse();
        claim(b, key(), 0, 0, epoch);
        assertThat(claim(a, key(), 2, 1, epoch).permits()).isEqualTo(2);
    }

    @Test
    void restartedServerAnswersWithAnotherEpochAndThenGivesBack() {
        Holding held = claim(a, key(), 1, 0, 0);

        server.stop();
        server.start();

        Holding foreign = await().ignoreException(PermitStoreException.class)
                .atMost(TestMember.PATIENCE)
                .until(() -> claim(a, key(), 1, 1, held.epoch()), answer -> true);
        assertThat(foreign.epoch()).isNotEqualTo(held.epoch()).isNotZero();
        assertThat(foreign.permits()).isZero();
        assertThat(foreign.version()).isGreaterThan(held.version());
        assertRejectedInGrace(await().ignoreException(PermitStoreException.class)
                .atMost(TestMember.PATIENCE)
                .until(() -> claim(b, key(), 1, 0, 0), answer -> true));
        assertThat(claim(a, key(), 1, 1, foreign.epoch()).permits()).isEqualTo(1);
    }

    @Test
    void serverThatStartsWithAnOldSnapshotGivesBackWhatIsNotInIt() {
        long before = claim(a, key(), 1, 0, 0).epoch();
        server.ask(RedisCommands::save);
        assertThat(claim(b, key(), 1, 0, 0).permits()).isEqualTo(1);

        server.stop();
        server.start();

        TestMember c = graced(server);
        assertRejectedInGrace(await().ignoreException(PermitStoreException.class)
                .until(() -> claim(c, key(), 1, 0, 0), answer -> true));
        long epoch = await().ignoreException(PermitStoreException.class)
                .until(() -> claim(b, key(), 1, 1, before), answer -> true)
                .epoch();
        assertThat(epoch).isNotEqualTo(before);
        assertThat(claim(b, key(), 1, 1, epoch).permits()).isEqualTo(1);
        assertRejectedInGrace(claim(c, key(), 1, 0, epoch));
        assertThat(await().ignoreException(PermitStoreException.class)
                        .until(() -> claim(a, key(), 1, 1, epoch), answer -> true)
                        .permits())
                .isEqualTo(1);
    }

    @Test
    void anotherDatabaseInThePlaceOfThisOneIsNoticed() {
        long before = claim(a, key(), 1, 0, 0).epoch();
        server.ask(commands -> commands.swapdb(0, 1));

        long epoch = claim(a, key() + "-other", 0, 0, before).epoch();

        assertThat(epoch).isNotEqualTo(before);
        assertRejectedInGrace(claim(b, key(), 1, 0, 0));
        assertThat(claim(a, key(), 1, 1, epoch).permits()).isEqualTo(1);
    }

    @Test
    void promotedReplicaThatLagsGivesBackWhatItHasNotReceived() {
        RedisServer replica = open(RedisServer.started("--save", ""));
        Holding older = claim(a, key(), 1, 0, 0);
        replica.ask(commands -> commands.replicaof("127.0.0.1", server.port()));
        await().atMost(TestMember.PATIENCE)
                .until(() ->
                        replica.ask(commands -> commands.info("replication").contains("master_link_status:up")));
        Holding afterReplica = claim(a, key(), 1, 1, older.epoch());
        assertThat(afterReplica.permits()).isEqualTo(1);
        assertThat(afterReplica.others().grace())
                .as("the first replica causes no grace")
                .isFalse();
        replica.ask(RedisCommands::replicaofNoOne); // from here on it has nothing of what follows
        Holding held = claim(a, key(), 2, 1, afterReplica.epoch());
        assertThat(held.permits()).isEqualTo(2);

        TestMember moved = graced(replica);
        TestMember other = graced(replica);

        assertRejectedInGrace(claim(other, key(), 1, 0, 0));
        Holding foreign = claim(moved, key(), 2, 2, held.epoch());
        assertThat(foreign.epoch()).isNotEqualTo(held.epoch());
        assertThat(claim(moved, key(), 2, 2, foreign.epoch()).permits()).isEqualTo(2);
        assertThat(claim(other, key(), 1, 0, 0).permits()).isZero();
    }

    /** A promoted replica at its limit of memory, which has to store that it continues the data. */
    @Test
    void promotedReplicaThatIsOutOfMemoryGivesBackAndTakesBack() {
        RedisServer replica = open(RedisServer.started("--save", "", "--maxmemory-policy", "noeviction"));
        Holding held = claim(a, key(), 2, 0, 0);
        replica.ask(commands -> commands.replicaof("127.0.0.1", server.port()));
        await().atMost(TestMember.PATIENCE)
                .until(() ->
                        replica.ask(commands -> commands.info("replication").contains("master_link_status:up")));
        replica.ask(RedisCommands::replicaofNoOne);
        TestMember moved = graced(replica);
        replica.ask(commands -> commands.configSet("maxmemory", "1"));

        Holding kept = claim(moved, key(), 2, 2, held.epoch());
        assertThat(claim(moved, key(), 2, 2, kept.epoch()).permits()).isEqualTo(2);
        assertThat(claim(moved, key(), 0, 0, kept.epoch()).permits()).isZero();
    }

    @Test
    void serverThatIsOutOfMemoryCanBeClosedAndOpened() {
        long epoch = claim(a, key(), 1, 0, 0).epoch();
        server.ask(commands -> commands.configSet("maxmemory", "1"));

        assertThat(close(epoch, 4)).isEqualTo(1);
        assertThatExceptionOfType(PermitStoreException.class)
                .isThrownBy(() -> claim(a, key(), 1, 1, epoch))
                .withMessageContaining("DPMOVED");
        assertThat(open(5)).isEqualTo(1);
    }

    /** A server that starts later without any data begins with the clock, and no member may remember what came before. */
    @Test
    void versionsAreNotAheadOfTheClockAfterALoss() {
        long before = claim(a, key(), 1, 0, 0).epoch();

        Holding after = claim(a, key(), 1, 1, flush(before));

        assertThat(after.permits()).isEqualTo(1);
        server.stop();
        server.start();
        TestMember started = graced(server);
        Holding anew = await().ignoreException(PermitStoreException.class)
                .until(() -> claim(started, key(), 1, 0, 0), answer -> answer.permits() == 1);
        assertThat(anew.version()).isGreaterThan(after.version());
    }

    @Test
    void versionsRiseFromRestartToRestartWithoutData() {
        long version = claim(a, key(), 1, 0, 0).version();
        for (int i = 0; i < 4; i++) {
            server.stop();
            server.start();
            TestMember next = graced(server);

            Holding restarted = await().ignoreException(PermitStoreException.class)
                    .until(() -> claim(next, key(), 1, 0, 1), answer -> true);

            assertThat(restarted.others().grace()).isTrue();
            assertThat(restarted.version()).isGreaterThan(version);
            version = restarted.version();
        }
    }

    /** Versions, and with them the tokens of grants, are ahead of a clock that is behind that of an earlier server. */
    @Test
    void keyOutlivesTheVersionThatAMemberKnows() {
        long before = claim(a, key() + "-other", 1, 0, 0).epoch();
        flush(before);
        long known = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()) + TimeUnit.MINUTES.toMicros(1);
        Claim first = a.next(key(), 1, 1, 1, true);

        Holding waiting = TestMember.answer(a.store()
                .claim(Claim.of(key(), first.sequence(), Duration.ofSeconds(10))
                        .wanted(1)
                        .held(0)
                        .queued(1)
                        .reclaim(Claim.Reclaim.of(0, before).checking().knownVersion(known))));

        assertThat(waiting.others().grace()).isTrue();
        assertThat(waiting.version()).isGreaterThan(known);
        String state = new String(RedisKey.of("permits", key()).state(), StandardCharsets.UTF_8);
        RedisEye eye = eye(server);
        long left = eye.commands().pttl(state);
        long[] time = eye.commands().time().stream()
                .mapToLong(part -> Long.parseLong(new String(part, StandardCharsets.US_ASCII)))
                .toArray(); // read after what is left, so that the end is not taken for earlier than it is
        long ends = time[0] * 1000 + time[1] / 1000 + 1 + left;
        assertThat(ends).isGreaterThanOrEqualTo(waiting.version() / 1000);
    }

    @Test
    void closedServerRefuses() {
        long epoch = claim(a, key(), 1, 0, 0).epoch();
        RedisEye eye = eye(server);
        byte[] lineage = eye.commands().get("permits:lineage");
        ByteBuffer.wrap(lineage).order(ByteOrder.LITTLE_ENDIAN).putInt(4, (int) epoch);
        eye.commands().set("permits:lineage", lineage);

        for (int wanted = 0; wanted < 2; wanted++) {
            int wants = wanted;
            assertThatExceptionOfType(PermitStoreException.class)
                    .isThrownBy(() -> claim(a, key(), wants, wants, epoch))
                    .withMessageContaining("DPMOVED")
                    .satisfies(e -> assertThat(e.isPermanent()).isFalse());
        }
    }

    @Test
    void memberOfFormat1IsRefusedOnlyDuringTheGrace() throws IOException {
        RedisEye eye = eye(server);
        Duration brief = Duration.ofSeconds(8);
        long epoch = claim(a, key(), 1, 0, 0, brief).epoch();
        assertThat(oldClaim(eye, 1)).isEqualTo(1);
        long after = flush(epoch, brief);
        assertThat(claim(a, key(), 1, 1, after, brief).others().grace()).isTrue();

        assertThatExceptionOfType(RedisCommandExecutionException.class)
                .isThrownBy(() -> oldClaim(eye, 2))
                .withMessageContaining("DPNEWER 2 2 1");
        await().atMost(Duration.ofSeconds(30))
                .until(() -> !claim(a, key(), 1, 1, after, brief).others().grace());
        assertThat(oldClaim(eye, 3)).isEqualTo(1);
    }

    @Test
    void keyOfFormat1IsTakenOverAsItIs() throws IOException {
        RedisEye eye = eye(server);
        assertThat(oldClaim(eye, 1)).isEqualTo(1);

        Holding beside = claim(a, key(), 2, 0, 0);

        assertThat(beside.permits())
                .as("one of two is held by the older member")
                .isEqualTo(1);
        assertThat(beside.others().grace()).isFalse();
        assertThat(oldClaim(eye, 2)).isEqualTo(1);
    }

    /** Claims of two permits at most, the limit, as the scripts of format 1 do. Returns the permits of that member. */
    private int oldClaim(RedisEye eye, long sequence) throws IOException {
        byte[] packed = Arrays.copyOf(
                Packed.claim(Claim.of(key(), sequence, LEASE).limit(2).wanted(1).tried(1)), 49);
        byte[] source;
        try (InputStream in = RedisGraceTest.class.getResourceAsStream("claims-of-format-1.lua")) {
            source = in == null ? new byte[0] : in.readAllBytes();
        }
        String[] names = Arrays.stream(RedisKey.of("permits", key()).names())
                .map(name -> new String(name, StandardCharsets.UTF_8))
                .toArray(String[]::new);
        byte[] view = eye.commands()
                .eval(source, ScriptOutputType.VALUE, names, "older".getBytes(StandardCharsets.US_ASCII), packed);
        return ByteBuffer.wrap(view).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }

    /** Empties the server. Returns the epoch under which it answers from then on, of which a claim of before learns. */
    private long flush(long before) {
        return flush(before, LEASE);
    }

    private long flush(long before, Duration lease) {
        server.ask(RedisCommands::flushall);
        return claim(a, key() + "-flushed", 1, 0, before, lease).epoch();
    }

    private static void assertRejectedInGrace(Holding answer) {
        assertRejectedInGrace(answer, 0);
    }

    private static void assertRejectedInGrace(Holding answer, int held) {
        assertThat(answer.permits()).isEqualTo(held);
        assertThat(answer.others().grace()).isTrue();
    }

    /** A claim that does not wait, with a limit of 2. */
    private static Holding claim(TestMember member, String key, int wanted, int kept, long epoch) {
        return claim(member, key, wanted, kept, epoch, LEASE);
    }

    private static Holding claim(TestMember member, String key, int wanted, int kept, long epoch, Duration lease) {
        Claim c = member.next(key, 2, wanted, wanted, false);
        Claim graced = Claim.of(key, c.sequence(), lease)
                .limit(2)
                .wanted(wanted)
                .reclaim(Claim.Reclaim.of(Math.min(kept, wanted), epoch).checking());
        for (int attempt = 1; ; attempt++) {
            try {
                return TestMember.answer(member.store().claim(graced));
            } catch (PermitStoreException e) {
                // A refused claim makes the member connect again, which fails what it sends meanwhile; the core repeats
                // that.
                if (attempt == ATTEMPTS || !String.valueOf(e.getMessage()).contains("was given up and made again")) {
                    throw e;
                }
            }
        }
    }
}
