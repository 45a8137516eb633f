package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Real servers whose clocks differ: the test states the time that each execution of the scripts reads, and everything else is
 * that of the server.
 */
class RedisServerClocksTest extends RedisTest {

    private static final String TIME = "call('TIME')";
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final long MILLI = 1_000;

    private final RedisServer master = open(RedisServer.started("--save", "", "--repl-diskless-sync-delay", "0"));
    private long sequence;
    /** That the claims carry. */
    private long version;

    private long time = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());

    /** The time of the last check was written by the master, on its clock, which the promoted server reaches again later. */
    @Test
    void promotedServerWhoseClockIsBehindGrantsNothingThatTheMasterMayHaveGranted() {
        RedisServer replica = replicaOf(master);
        Holding known = claim(master, "b", 1, 0, 0);
        claim(master, "b", 0, 0, known.epoch());
        awaitCopied(master, replica);
        replica.ask(RedisCommands::replicaofNoOne);
        time += 50 * MILLI;
        assertThat(claim(master, "a", 1, 0, known.epoch()).permits()).isEqualTo(1);

        time -= 30 * MILLI;
        Holding promoted = claim(replica, "b", 1, 0, known.epoch());

        assertThat(promoted.permits()).as("a holds the only permit").isZero();
        assertThat(promoted.others().grace()).isTrue();
        assertThat(claim(replica, "a", 1, 1, promoted.epoch()).permits()).isEqualTo(1);
    }

    /** With the data, the version that members had received is lost. */
    @Test
    void serverWhoseClockIsBehindGoesOnAboveTheVersionThatAHolderKnows() {
        Holding held = claim(master, "a", 1, 0, 0);
        master.ask(RedisCommands::flushall);
        time -= 1_000 * MILLI;
        Holding emptied = claim(master, "b", 1, 0, held.epoch());
        assertThat(emptied.others().grace()).isTrue();
        assertThat(emptied.version()).isLessThan(held.version());

        version = held.version();
        Holding reclaimed = claim(master, "a", 1, 1, emptied.epoch());

        assertThat(reclaimed.permits()).isEqualTo(1);
        assertThat(reclaimed.version()).isGreaterThan(held.version());
        version = 0;
        claim(master, "a", 0, 0, emptied.epoch());
        Holding next = claim(master, "b", 1, 0, emptied.epoch());
        assertThat(next.permits()).isEqualTo(1);
        assertThat(next.version()).isGreaterThan(reclaimed.version());
    }

    private RedisServer replicaOf(RedisServer server) {
        RedisServer replica = open(RedisServer.started("--save", ""));
        replica.ask(commands -> commands.replicaof("127.0.0.1", server.port()));
        await().atMost(TestMember.PATIENCE)
                .until(() ->
                        replica.ask(commands -> commands.info("replication")).contains("master_link_status:up"));
        return replica;
    }

    private void awaitCopied(RedisServer server, RedisServer replica) {
        String state = new String(RedisKey.of("permits", key()).state(), StandardCharsets.UTF_8);
        String written = server.ask(commands -> commands.hgetall(state)).toString();
        await().atMost(TestMember.PATIENCE)
                .until(() -> replica.ask(commands -> commands.hgetall(state))
                        .toString()
                        .equals(written));
    }

    /** A claim of the only permit, which does not wait. */
    private Holding claim(RedisServer server, String member, int wanted, int kept, long epoch) {
        time += MILLI;
        Claim claim = Claim.of(key(), ++sequence, LEASE)
                .wanted(wanted)
                .reclaim(Claim.Reclaim.of(kept, epoch).knownVersion(version));
        RedisKey key = RedisKey.of("permits", key());
        byte[][] names = Arrays.copyOf(key.names(), RedisKey.NAMES + 1);
        names[RedisKey.NAMES] = new LineageNames("permits").single();
        String clock = "{ %d, %d }".formatted(time / 1_000_000, time % 1_000_000);
        String script = new String(Script.CLAIMS.source(), StandardCharsets.UTF_8);
        assertThat(script).contains(TIME);
        byte[] views = eye(server)
                .commands()
                .eval(
                        script.replace(TIME, clock).getBytes(StandardCharsets.UTF_8),
                        ScriptOutputType.VALUE,
                        Arrays.stream(names)
                                .map(name -> new String(name, StandardCharsets.UTF_8))
                                .toArray(String[]::new),
                        RedisKey.bytes(member),
                        Packed.claim(claim),
                        ClaimCodec.packGrace(Duration.ZERO, 0));
        return ClaimCodec.readView(views, 0);
    }
}
