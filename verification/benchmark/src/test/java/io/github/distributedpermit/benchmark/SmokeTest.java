package io.github.distributedpermit.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.fleet.Stores;
import io.github.distributedpermit.benchmark.footprint.Application;
import io.github.distributedpermit.benchmark.footprint.Footprint;
import io.github.distributedpermit.benchmark.load.Board;
import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import io.github.distributedpermit.benchmark.load.LocalSlice;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.micro.LimitedApplication;
import io.github.distributedpermit.benchmark.micro.LimitedService;
import io.github.distributedpermit.benchmark.ours.ScriptClaims;
import io.github.distributedpermit.benchmark.servers.RedisCluster;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import io.github.distributedpermit.benchmark.servers.ScriptCalls;
import io.github.distributedpermit.spi.Claim;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SmokeTest {

    @TempDir
    Path folder;

    @Test
    void ourLocalBackendKeepsTheLimitUnderTheObserver() throws Exception {
        Workload work = Workload.of(8, 3, Duration.ofMillis(1), Duration.ofSeconds(3));
        Board board = Board.open(folder.resolve("board"), 1, work.seats(), 1000);
        try (Contender ours = Cast.make(Cast.LOCAL, Stores.none())) {
            SliceStats stats = new LocalSlice(Cast.LOCAL, ours, work, board, true).run(0);
            assertThat(stats.violations()).isZero();
            assertThat(stats.pairs()).isPositive();
        }
    }

    @Test
    void bothContendersUseAllNodesOfARedisCluster() throws Exception {
        Workload keys = Workload.of(1, 10, Duration.ZERO, Duration.ofSeconds(1)).on(16);
        try (RedisCluster cluster = RedisCluster.start()) {
            Stores stores = Stores.parse(Stores.redisCluster(cluster.ports()).asArgument());
            for (String name : List.of(Cast.OURS, Cast.RSEMAPHORE)) {
                try (Contender contender = Cast.make(name, stores)) {
                    List<ScriptCalls> before = cluster.scriptCallsByNode();
                    for (Gate gate : LocalSlice.gates(contender, name, keys)) {
                        gate.leave(gate.enter());
                    }
                    for (int node = 0; node < before.size(); node++) {
                        assertThat(cluster.scriptCallsByNode()
                                        .get(node)
                                        .since(before.get(node))
                                        .calls())
                                .isPositive();
                    }
                }
            }
        }
    }

    @Test
    void scriptsAcceptTheClaimsThatTheBenchmarkPacks() throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            RedisClient client = RedisClient.create("redis://127.0.0.1:" + redis.port());
            try (var connection = client.connect(ByteArrayCodec.INSTANCE)) {
                for (boolean grace : List.of(true, false)) {
                    ScriptClaims claims = new ScriptClaims(connection, grace);
                    claims.send(
                            "m0",
                            Claim.of("job" + grace, 1, Duration.ofMinutes(1))
                                    .wanted(1)
                                    .queued(1));
                    claims.flush();
                    assertThat(connection.sync().keys("*job" + grace + "*")).isNotEmpty();
                }
            } finally {
                client.shutdown();
            }
        }
    }

    @Test
    void everyLimitedMethodRuns() {
        try (LimitedApplication application = LimitedApplication.start()) {
            LimitedService service = application.service();
            service.ours();
            service.concurrencyLimit();
            service.bulkhead();
            service.semaphore();
            for (int i = 0; i < 20; i++) { // more often than the limit, so each has to return its permit
                assertThat(service.oursStage()).succeedsWithin(Duration.ofSeconds(20));
                assertThat(service.bulkheadStage()).isCompletedWithValue("done");
                assertThat(service.oursMono().block()).isEqualTo("done");
                assertThat(service.bulkheadMono().block()).isEqualTo("done");
            }
        }
    }

    @Test
    void onlyTheApplicationWithTheStarterHasConnectionsForPermits() throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            Footprint without = Application.REDIS.measure(redis);
            Footprint with = Application.PERMIT.measure(redis);
            assertThat(without.connections()).isEqualTo(1);
            assertThat(with.connections()).isGreaterThan(1);
            assertThat(with.readySeconds()).isPositive();
            assertThat(with.heapMegabytes()).isGreaterThan(without.heapMegabytes());
        }
    }

    @Test
    void commitWithChangesIsDirty() {
        assertThat(Commit.name("0123abc", "")).isEqualTo("0123abc");
        assertThat(Commit.name("0123abc", " M pom.xml")).isEqualTo("0123abc-dirty");
    }

    @Test
    void unknownOptionIsNamed() {
        assertThat(Options.parse(new String[] {"--full", "--check"}).check()).isTrue();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse(new String[] {"--fast"}))
                .withMessageContaining("--fast");
    }
}
