package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.test.TestingServer;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The row of ZooKeeper in the table of faults, with the real core; afterwards everything is free and nothing is left. */
class FaultsTest {

    private static final Duration SESSION = Duration.ofSeconds(8);
    private static final String ROOT = "/faults";
    private static final String KEY = "export";
    private static final int LIMIT = 2;

    private final TestingServer server = Servers.single();
    private final TcpProxy wire = new TcpProxy(server.getPort());
    private final TestProcess frail = TestProcess.impatient(wire.connectString(), ROOT, SESSION, false);
    private final TestProcess sound = TestProcess.impatient(server.getConnectString(), ROOT, SESSION, false);

    @AfterEach
    void everythingIsFreeAndNothingIsLeft() throws Exception {
        wire.mend();
        patiently().untilAsserted(() -> {
            Optional<Permit> all = Optional.of(sound.permits(KEY, LIMIT)
                    .acquire(PermitRequest.of(KEY).withPermits(LIMIT).withTimeout(Duration.ofSeconds(2))));
            all.get().release();
        });
        frail.close();
        sound.close();
        wire.close();
        try (Observer observer = new Observer(server.getConnectString(), ROOT)) {
            patiently().untilAsserted(() -> assertThat(observer.tree()).isEmpty());
        }
        server.close();
    }

    private static ConditionFactory patiently() {
        return await().atMost(Duration.ofSeconds(40)).ignoreExceptions();
    }

    private static Permit acquire(TestProcess process) throws InterruptedException {
        return process.permits(KEY, LIMIT).acquire(PermitRequest.of(KEY).withTimeout(Duration.ofSeconds(20)));
    }

    private static Permit acquireAll(TestProcess process) throws InterruptedException {
        return process.permits(KEY, LIMIT)
                .acquire(PermitRequest.of(KEY).withPermits(LIMIT).withTimeout(Duration.ofSeconds(20)));
    }

    @Test
    void sessionKilledAtTheServerIsToldToTheHoldersAtOnceAndTheProcessComesBack() throws Exception {
        Permit permit = acquireAll(frail);
        AtomicInteger losses = new AtomicInteger();
        permit.onLoss(losses::incrementAndGet);

        frail.killSession(server.getConnectString());

        patiently().untilAsserted(() -> assertThat(losses).hasValue(1));
        assertThat(permit.isHeld()).isFalse();
        permit.release(); // changes nothing
        Permit again = acquire(frail);
        assertThat(again.isHeld()).isTrue();
        assertThat(again.token()).isGreaterThan(permit.token());
        again.release();
    }

    @Test
    void permitsOfAKilledSessionGoToThoseWhoWait() throws Exception {
        acquireAll(frail);
        CompletableFuture<Permit> waiting = sound.permits(KEY, LIMIT).acquireAsync(PermitRequest.of(KEY));
        wire.silence(); // it can't give them back itself

        frail.killSession(server.getConnectString());

        waiting.orTimeout(30, TimeUnit.SECONDS).join().release();
    }

    @Test
    void holderThatHearsNothingLosesItsPermitBeforeAnybodyElseGetsIt() throws Exception {
        Permit permit = acquireAll(frail);
        CompletableFuture<Void> lost = new CompletableFuture<>();
        permit.onLoss(() -> lost.complete(null));
        CompletableFuture<Boolean> heldWhenServed = sound.permits(KEY, LIMIT)
                .acquireAsync(PermitRequest.of(KEY))
                .thenApply(next -> {
                    boolean held = permit.isHeld();
                    next.release();
                    return held;
                });

        wire.silence();

        assertThat(heldWhenServed.orTimeout(40, TimeUnit.SECONDS).join()).isFalse();
        assertThat(lost).succeedsWithin(Duration.ofSeconds(20)); // a busy machine may run the listener later
    }

    @Test
    void nodeOfAHolderDeletedByHandIsALoss() throws Exception {
        Permit permit = acquireAll(frail);
        AtomicInteger losses = new AtomicInteger();
        permit.onLoss(losses::incrementAndGet);

        try (Observer observer = new Observer(server.getConnectString(), ROOT)) {
            observer.memberNodes(KEY).forEach(observer::delete);
        }

        patiently().untilAsserted(() -> assertThat(losses).hasValue(1));
        assertThat(permit.isHeld()).isFalse();
        acquireAll(sound).release();
    }

    @Test
    void nodeOfAWaiterDeletedByHandComesBack() throws Exception {
        Permit permit = acquireAll(sound);
        CompletableFuture<Permit> waiting = frail.permits(KEY, LIMIT).acquireAsync(PermitRequest.of(KEY));
        try (Observer observer = new Observer(server.getConnectString(), ROOT)) {
            patiently().until(() -> observer.waiting(KEY) == 1);
            String own = observer.memberNodes(KEY).stream()
                    .filter(path -> !observer.holderNodes(KEY).contains(path))
                    .findFirst()
                    .orElseThrow();
            observer.delete(own);
        }

        permit.release();

        waiting.orTimeout(30, TimeUnit.SECONDS).join().release();
    }

    @Test
    void waitsEndAtTheirOwnTimeOutWithTheServerDown() throws Exception {
        acquire(frail).release();
        NamedPermits permits = frail.permits(KEY, LIMIT);
        wire.cut();

        long begin = System.nanoTime();
        assertThatExceptionOfType(PermitBackendException.class)
                .isThrownBy(() -> permits.acquire(PermitRequest.of(KEY).withTimeout(Duration.ofMillis(1_500))));
        Duration waited = Duration.ofNanos(System.nanoTime() - begin);
        assertThat(waited).isBetween(Duration.ofMillis(1_500), Duration.ofSeconds(10));

        begin = System.nanoTime();
        assertThatExceptionOfType(PermitBackendException.class).isThrownBy(() -> permits.tryAcquire(KEY));
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    void waitTimesOutAtItsTimeWhileTheLimitIsReached() throws Exception {
        Permit permit = acquireAll(sound);
        frail.permits("other", 1).acquire("other").release(); // it is connected
        NamedPermits permits = frail.permits(KEY, LIMIT);
        long begin = System.nanoTime();

        assertThatExceptionOfType(PermitRejectedException.class)
                .isThrownBy(() -> permits.acquire(PermitRequest.of(KEY).withTimeout(Duration.ofSeconds(8))));

        assertThat(Duration.ofNanos(System.nanoTime() - begin))
                .isBetween(Duration.ofSeconds(8), Duration.ofSeconds(40));
        permit.release();
    }

    /** The transaction takes place, its answer is lost: the node is found again, and only one permit is taken. */
    @Test
    void lostAnswerLeavesNoOrphan() throws Exception {
        frail.permits("other", 1).acquire("other").release();
        try (Observer observer = new Observer(server.getConnectString(), ROOT)) {
            wire.loseAnswers();
            CompletableFuture<Permit> call = frail.permits(KEY, LIMIT).acquireAsync(PermitRequest.of(KEY));
            patiently().until(() -> observer.look(KEY).used() == 1);
            wire.mend();

            Permit permit = call.orTimeout(30, TimeUnit.SECONDS).join();

            // If the session was given up meanwhile, the first node goes a moment later.
            patiently().untilAsserted(() -> {
                assertThat(observer.memberNodes(KEY)).hasSize(1);
                assertThat(observer.look(KEY).used()).isEqualTo(1);
            });
            permit.release();
            patiently().until(() -> observer.look(KEY).used() == 0);
        }
    }

    /** The call has given up by the time the connection is back. */
    @Test
    void lostAnswerToACallThatGaveUpLeavesNoOrphan() throws Exception {
        frail.permits("other", 1).acquire("other").release();
        wire.loseAnswers();
        CompletableFuture<Permit> call = frail.permits(KEY, LIMIT).acquireAsync(PermitRequest.of(KEY));
        try (Observer observer = new Observer(server.getConnectString(), ROOT)) {
            patiently().until(() -> observer.look(KEY).used() == 1);
            call.cancel(true);
            wire.mend();

            patiently()
                    .untilAsserted(() -> assertThat(observer.look(KEY).used()).isZero());
            patiently()
                    .untilAsserted(() -> assertThat(observer.memberNodes(KEY)).isEmpty());
        }
    }

    @Test
    void foreignDataIsAnErrorThatNamesTheNodeAndIsLeftAlone() throws Exception {
        byte[] theirs = "theirs".getBytes(StandardCharsets.UTF_8);
        try (Observer observer = new Observer(server.getConnectString(), ROOT)) {
            observer.write(observer.path("taken"), theirs);

            patiently() // before it is connected, the exception says so
                    .untilAsserted(() -> assertThatExceptionOfType(PermitBackendException.class)
                            .isThrownBy(() -> frail.permits("taken", 1).tryAcquire("taken"))
                            .withStackTraceContaining(observer.path("taken")));

            assertThat(observer.zk().getData(observer.path("taken"), false, null))
                    .isEqualTo(theirs);
            observer.delete(observer.path("taken"));
        }
    }
}
