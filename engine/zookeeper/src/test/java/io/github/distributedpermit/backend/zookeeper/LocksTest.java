package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With a limit of one, what the three classic recipes do, and what they do not. */
class LocksTest {

    private static final TestingServer SERVER = Servers.single(Servers.LONG_TICK_MILLIS);
    private static final Duration SESSION = Servers.LONG_SESSION;
    private static final String ROOT = "/locks";
    private static final String LOCK = "lock";

    private final List<TestProcess> processes = new ArrayList<>();
    private final Observer observer = new Observer(SERVER.getConnectString(), ROOT);

    @AfterAll
    static void stopServer() throws IOException {
        SERVER.close();
    }

    @BeforeEach
    void startProcesses() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            processes.add(new TestProcess(SERVER.getConnectString(), ROOT, SESSION));
        }
        for (TestProcess process : processes) { // connected, so that a try is short
            process.permits("warm-up", 1).acquire("warm-up").release();
        }
    }

    @AfterEach
    void nothingIsLeft() {
        processes.forEach(TestProcess::close);
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(observer.tree()).isEmpty());
        observer.close();
    }

    private NamedPermits lock(int process) {
        return processes.get(process).permits(LOCK, 1);
    }

    /** "Create an ephemeral node; whoever made it has the lock, the others go away." */
    @Test
    void tryLockOnAnEphemeralNode() throws InterruptedException {
        Permit mine = lock(0).tryAcquire(LOCK).orElseThrow();

        assertThat(lock(1).tryAcquire(LOCK)).isEmpty();
        assertThat(lock(0).tryAcquire(LOCK)).isEmpty();
        assertThat(mine.isHeld()).isTrue();

        mine.release();
        Permit theirs = awaitTry(1);
        assertThat(theirs.token()).isGreaterThan(mine.token());
        assertThat(lock(0).tryAcquire(LOCK)).isEmpty();
        theirs.release();
    }

    /** The node of a process that is gone goes with its session, and the lock with it. */
    @Test
    void tryLockOnAnEphemeralNodeIsFreeWhenItsHolderIsGone() throws InterruptedException {
        assertThat(lock(0).tryAcquire(LOCK)).isPresent();
        assertThat(lock(1).tryAcquire(LOCK)).isEmpty();

        processes.get(0).client().close();

        awaitTry(1).release();
    }

    /** "Create a sequential child; whoever is first has the lock, the others delete theirs and go away." */
    @Test
    void tryLockOnSequentialChildren() throws InterruptedException {
        Permit mine = lock(0).tryAcquire(LOCK).orElseThrow();
        CompletableFuture<Permit> waiting = lock(1).acquireAsync(PermitRequest.of(LOCK));
        awaitInLine(1);

        // a refused try leaves no trace in the queue, and never passes those who wait
        assertThat(lock(2).tryAcquire(LOCK)).isEmpty();
        assertThat(observer.memberNodes(LOCK)).hasSize(2);
        mine.release();
        assertThat(waiting.orTimeout(20, TimeUnit.SECONDS).join().isHeld()).isTrue();
        assertThat(lock(2).tryAcquire(LOCK)).isEmpty();
        waiting.join().release();
    }

    /** "Create a sequential child, and wait for the one before it to vanish": in order, and without a herd. */
    @Test
    void blockingLockWatchingItsPredecessor() throws InterruptedException {
        AtomicInteger inside = new AtomicInteger();
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<CompletableFuture<Void>> calls = new ArrayList<>();
        Permit first = lock(0).acquire(LOCK);
        for (int process : new int[] {1, 2}) {
            calls.add(lock(process)
                    .acquireAsync(PermitRequest.of(LOCK))
                    .thenAccept(permit -> visit(permit, process, inside, order)));
            awaitInLine(process);
        }

        first.release();

        CompletableFuture.allOf(calls.toArray(CompletableFuture<?>[]::new))
                .orTimeout(20, TimeUnit.SECONDS)
                .join();
        assertThat(order).containsExactly(1, 2);
    }

    private static void visit(Permit permit, int process, AtomicInteger inside, List<Integer> order) {
        assertThat(inside.incrementAndGet()).isEqualTo(1);
        order.add(process);
        assertThat(inside.decrementAndGet()).isZero();
        permit.release();
    }

    /** The predecessor may also die. */
    @Test
    void blockingLockIsPassedOnWhenItsPredecessorIsGone() {
        lock(0).acquireAsync(PermitRequest.of(LOCK))
                .orTimeout(20, TimeUnit.SECONDS)
                .join();
        CompletableFuture<Permit> waiting = lock(1).acquireAsync(PermitRequest.of(LOCK));
        awaitInLine(1);

        processes.get(0).client().close();

        waiting.orTimeout(20, TimeUnit.SECONDS).join().release();
    }

    private Permit awaitTry(int process) {
        return await().atMost(Duration.ofSeconds(20))
                .ignoreException(PermitBackendException.class)
                .until(() -> lock(process).tryAcquire(LOCK), Optional::isPresent)
                .orElseThrow();
    }

    private void awaitInLine(int count) {
        await().atMost(Duration.ofSeconds(20)).until(() -> observer.waiting(LOCK) == count);
    }
}
