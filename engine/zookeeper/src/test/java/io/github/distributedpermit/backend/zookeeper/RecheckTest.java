package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.SilentCore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A claim that repeats what is recorded is answered without a write, and hides nothing that others write. */
class RecheckTest {

    private static final TestingServer SERVER = Servers.single(Servers.LONG_TICK_MILLIS);
    private static final Duration SESSION = Servers.LONG_SESSION;
    private static final Duration RECHECK = Duration.ofMillis(300);
    private static final String ROOT = "/recheck";
    private static final String KEY = "export";
    private static final int WAITING = 40;
    /** The oldest waiter is the same for all claims of a member. */
    private static final Duration WAITED = Duration.ofMinutes(1);

    /** Requests of one reading, but the {@code sync}. */
    private static final int READS = 2;

    private final Observer observer = new Observer(SERVER.getConnectString(), ROOT);
    private final List<CountingClient> clients = new ArrayList<>();
    private final List<TestProcess> processes = new ArrayList<>();
    private final List<PermitStore> stores = new ArrayList<>();
    private final List<Holding> notified = new CopyOnWriteArrayList<>();

    @AfterAll
    static void stopServer() throws IOException {
        SERVER.close();
    }

    @AfterEach
    void leave() {
        stores.forEach(PermitStore::close);
        // a client sleeps a tenth of a second when it is closed
        CompletableFuture.allOf(processes.stream()
                        .map(process -> CompletableFuture.runAsync(process::close, task -> new Thread(task).start()))
                        .toArray(CompletableFuture<?>[]::new))
                .join();
        clients.forEach(CountingClient::close);
        observer.close();
    }

    private CountingClient client() {
        CountingClient client = new CountingClient(SERVER.getConnectString(), SESSION);
        clients.add(client);
        return client;
    }

    private TestProcess process(CountingClient client) {
        TestProcess process = new TestProcess(client.curator(), ROOT, SESSION, RECHECK);
        processes.add(process);
        return process;
    }

    private CompletableFuture<Permit> acquire(TestProcess process) {
        return process.permits(KEY, 1).acquireAsync(PermitRequest.of(KEY)).toCompletableFuture();
    }

    @Test
    void waitingMembersWriteNothing() throws Exception {
        Permit held = process(client()).permits(KEY, 1).acquire(KEY);
        List<CountingClient> waiting = new ArrayList<>();
        List<CompletableFuture<Void>> calls = new ArrayList<>();
        for (int i = 0; i < WAITING; i++) {
            CountingClient client = client();
            waiting.add(client);
            calls.add(acquire(process(client)).thenAccept(Permit::release));
        }
        await().atMost(Duration.ofSeconds(60)).until(() -> observer.waiting(KEY) == WAITING);

        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(writesDuringThreeRechecks(waiting)).isZero());

        held.release();
        CompletableFuture.allOf(calls.toArray(CompletableFuture<?>[]::new))
                .orTimeout(60, TimeUnit.SECONDS)
                .join();
    }

    private static int writesDuringThreeRechecks(List<CountingClient> clients) {
        int writes = clients.stream().mapToInt(CountingClient::writes).sum();
        List<Integer> reads = clients.stream().map(CountingClient::reads).toList();
        for (int i = 0; i < clients.size(); i++) {
            CountingClient client = clients.get(i);
            int until = reads.get(i) + 3 * READS;
            await().atMost(Duration.ofSeconds(60)).until(() -> client.reads() >= until);
        }
        return clients.stream().mapToInt(CountingClient::writes).sum() - writes;
    }

    @Test
    void waiterWhoseNotificationIsLostIsServedByItsRecheck() throws Exception {
        Permit held = process(client()).permits(KEY, 1).acquire(KEY);
        CountingClient deaf = client();
        CompletableFuture<Permit> call = acquire(process(deaf));
        await().atMost(Duration.ofSeconds(60)).until(() -> observer.waiting(KEY) == 1);
        int reads = deaf.reads();
        await().atMost(Duration.ofSeconds(60)).until(() -> deaf.reads() >= reads + 2 * READS);
        deaf.loseNotifications();

        held.release();

        assertThat(call.orTimeout(20, TimeUnit.SECONDS).join().isHeld()).isTrue();
        call.join().release();
    }

    private PermitStore store(CountingClient client) {
        PermitStore store = new ZooKeeperPermitBackend(
                        client.curator(), new ZooKeeperSettings(ROOT, SESSION, Duration.ofMinutes(1)))
                .join(new Member(UUID.randomUUID().toString(), "test"), new SilentCore() {
                    @Override
                    public void granted(String key, Holding holding) {
                        notified.add(holding);
                    }
                });
        stores.add(store);
        Clients.awaitSession(store);
        return store;
    }

    private static CompletableFuture<Holding> sent(PermitStore by, long sequence, int wanted) {
        Claim claim =
                Claim.of(KEY, sequence, SESSION).wanted(wanted).queued(wanted).waited(WAITED);
        return by.claim(claim).toCompletableFuture().orTimeout(20, TimeUnit.SECONDS);
    }

    private static Holding claim(PermitStore by, long sequence, int wanted) {
        return sent(by, sequence, wanted).join();
    }

    @Test
    void grantAfterAnUnwrittenClaimIsOneForThatClaim() {
        PermitStore holder = store(client());
        CountingClient waiting = client();
        PermitStore waiter = store(waiting);
        claim(holder, 1, 1);
        Holding queued = claim(waiter, 1, 1);
        int writes = waiting.writes();

        Holding again = claim(waiter, 5, 1);

        assertThat(waiting.writes()).isEqualTo(writes);
        assertThat(again.permits()).isZero();
        assertThat(again.sequence()).isEqualTo(5);
        assertThat(again.version()).isEqualTo(queued.version());
        claim(holder, 2, 0);
        await().atMost(Duration.ofSeconds(60)).until(() -> !notified.isEmpty());
        Holding grant = notified.get(0);
        assertThat(grant.permits()).isEqualTo(1);
        assertThat(grant.sequence())
                .as("what the core counts as the state after its last claim")
                .isEqualTo(5);
        assertThat(grant.version()).isGreaterThan(again.version());
    }

    @Test
    void delayedReturnChangesNothingAfterAnUnwrittenClaim() {
        CountingClient client = client();
        PermitStore store = store(client);
        claim(store, 1, 1);
        claim(store, 2, 1);
        int writes = client.writes();
        claim(store, 4, 1);
        assertThat(client.writes()).isEqualTo(writes);

        Holding answer = claim(store, 3, 0);

        assertThat(client.writes()).isEqualTo(writes);
        assertThat(answer.permits()).isEqualTo(1);
        assertThat(answer.sequence()).isEqualTo(4);
        assertThat(observer.look(KEY).used()).isEqualTo(1);
    }

    @Test
    void delayedClaimDoesNotBringBackARecordThatWasReturned() {
        PermitStore store = store(client());
        claim(store, 1, 1);
        claim(store, 3, 0);

        Holding answer = claim(store, 2, 1);

        assertThat(answer.permits()).isZero();
        assertThat(answer.sequence()).isEqualTo(3);
        assertThat(observer.look(KEY).used()).isZero();
    }

    /** Its outcome is unknown: it could take effect after a claim that was answered without a write. */
    @Test
    void claimAfterOneThatFailedIsWritten() throws Exception {
        try (TcpProxy wire = new TcpProxy(SERVER.getPort());
                CountingClient frail = new CountingClient(wire.connectString(), SESSION)) {
            PermitStore store = store(frail);
            claim(store, 1, 1);
            claim(store, 2, 1);
            wire.loseAnswers();
            CompletableFuture<Holding> lost = second(store, 3);
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> observer.look(KEY).used() == 2);
            wire.cut();
            assertThat(lost).failsWithin(Duration.ofSeconds(20)).withThrowableOfType(ExecutionException.class);
            int writes = frail.writes();
            wire.mend();

            await().atMost(Duration.ofSeconds(60))
                    .ignoreExceptions()
                    .until(() -> second(store, 4).join().permits() == 2);

            assertThat(frail.writes()).isGreaterThan(writes);
            store.close();
        }
    }

    /** Claims a second permit. */
    private static CompletableFuture<Holding> second(PermitStore by, long sequence) {
        Claim claim =
                Claim.of(KEY, sequence, SESSION).limit(2).wanted(2).queued(1).waited(WAITED);
        return by.claim(claim).toCompletableFuture().orTimeout(20, TimeUnit.SECONDS);
    }
}
