package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.Holding;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections that were dropped without a word, as firewalls and load balancers drop idle ones. */
class IdleConnectionsTest {

    private static final int BURST = 48;
    private static final int CLAIMS_AT_A_TIME = 10;
    private static final int MOST = 16;
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration LONGEST_USE = Duration.ofSeconds(30);

    private final ForgetfulProxy proxy = new ForgetfulProxy(SharedConsul.get().address());
    private final Bench bench = new Bench(proxy.address(), SharedConsul.get().probe());

    @AfterEach
    void leave() {
        bench.close();
        proxy.close();
    }

    @Test
    void manyDroppedConnectionsCostOneTimeOutAndNoPermit() {
        TestMember a = bench.member(bench.settings(ConsulLayout.SLOTS, Duration.ofSeconds(6)));
        a.queue("held", 1, 1);
        String session = bench.sessions(a).get(0).id();
        proxy.hold();
        List<CompletableFuture<Holding>> burst = burst(a, 1);
        await().until(() -> proxy.open() > CLAIMS_AT_A_TIME);
        proxy.pass();
        burst.forEach(TestMember::answer);
        burst(a, 0).forEach(TestMember::answer);

        proxy.forget();

        await().atMost(SOON)
                .ignoreExceptions()
                .until(() -> a.ask("after", 1, 1, 1).get().permits() == 1);
        await().atMost(SOON).untilAsserted(() -> assertThat(proxy.open()).isLessThan(10));
        int signs = a.signs();
        await().atMost(SOON).until(() -> a.signs() > signs);
        assertThat(a.losses()).isZero();
        assertThat(bench.sessions(a)).extracting(ConsulProbe.Session::id).containsExactly(session);
        assertThat(a.keep("held", 1, 1).permits()).isEqualTo(1);
    }

    /** Consul takes 200 connections from an address, which many instances may share. */
    @Test
    void noBurstTakesMoreThanSixteenConnectionsNorKeepsTheSessionFromBeingRenewed() {
        TestMember a = bench.member(bench.settings(ConsulLayout.SLOTS, Bench.REQUEST_TIMEOUT));
        a.queue("held", 1, 1);
        for (int round = 0; round < 3; round++) {
            proxy.hold();
            List<CompletableFuture<Holding>> burst = burst(a, 1);
            int signs = a.signs();
            await().atMost(SOON).until(() -> proxy.open() > CLAIMS_AT_A_TIME);
            proxy.pass();
            burst.forEach(TestMember::answer);
            burst(a, 0).forEach(TestMember::answer);
            await().atMost(SOON).until(() -> a.signs() > signs);
            assertThat(proxy.most()).isLessThanOrEqualTo(MOST);
        }
        assertThat(a.losses()).isZero();
    }

    private static List<CompletableFuture<Holding>> burst(TestMember member, int wanted) {
        return IntStream.range(0, BURST)
                .mapToObj(i -> member.ask("burst-" + i, 1, wanted, wanted))
                .toList();
    }

    @Test
    void leavingClosesAllConnections() {
        TestMember a = bench.member();
        a.queue("left", 1, 1);
        assertThat(proxy.open()).isPositive();

        a.close();

        await().atMost(SOON).untilAsserted(() -> assertThat(proxy.open()).isZero());
    }

    @Test
    void soDoesLeavingAnAgentThatAnswersNothing() {
        TestMember a = bench.member(bench.settings(ConsulLayout.SLOTS, Duration.ofSeconds(2)));
        a.queue("left", 1, 1);
        proxy.hold(); // the blocking query under way stays unanswered

        a.close();

        await().atMost(SOON).untilAsserted(() -> assertThat(proxy.open()).isZero());
    }

    @Test
    void idleConnectionsAreClosedWhenTheirPoolIsOld() {
        AtomicLong clock = new AtomicLong();
        Connections connections = new Connections(
                () -> HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .build(),
                clock::get,
                LONGEST_USE);
        for (int round = 0; round < 3; round++) {
            proxy.hold();
            List<CompletableFuture<Integer>> burst =
                    IntStream.range(0, BURST).mapToObj(i -> get(connections)).toList();
            await().atMost(SOON).until(() -> proxy.open() == BURST);
            proxy.pass();
            burst.forEach(CompletableFuture::join);
            clock.addAndGet(LONGEST_USE.toNanos() + 1);

            get(connections).join();

            await().atMost(SOON).untilAsserted(() -> assertThat(proxy.open()).isLessThanOrEqualTo(1));
        }
        connections.close();
        await().atMost(SOON).untilAsserted(() -> assertThat(proxy.open()).isZero());
    }

    private CompletableFuture<Integer> get(Connections connections) {
        Connections.Pool pool = connections.pool();
        HttpRequest request = HttpRequest.newBuilder(URI.create(proxy.address() + "/v1/status/leader"))
                .build();
        return pool.http().sendAsync(request, BodyHandlers.ofString()).thenApply(response -> {
            pool.ended(false);
            return response.statusCode();
        });
    }
}
