package io.github.distributedpermit.backend.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * A PostgreSQL server that is killed, stopped without a checkpoint, or stopped as usual, at any moment under load. In the first two cases
 * it loses what it has confirmed last. With {@code -Dtests.long} there are twenty hits in place of three.
 */
class KilledServerTest {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int HITS = Boolean.getBoolean("tests.long") ? 20 : 3;
    private static final int LIMIT = 3;
    private static final int PROCESSES = 3;
    private static final int CALLERS = 4;

    private final JdbcSettings settings =
            JdbcSettings.of("killed", JdbcSettings.DEFAULT_TABLE_PREFIX, Duration.ofSeconds(4), Duration.ofMillis(500));
    /** Guarded by itself, so that no permit passes to another call while those that are held are counted. */
    private final Set<Permit> open = new HashSet<>();

    private final AtomicInteger grants = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    @Test
    void killedServerNeverGrantsAPermitTwice() throws Exception {
        List<TestProcess> processes = new ArrayList<>();
        List<Thread> callers = new ArrayList<>();
        int losses = 0;
        try (PostgreSqlServer server = PostgreSqlServer.create()) {
            assertThat(new Database("postgresql", server.source()).name()).isNotEmpty(); // has the tables
            server.execute("CREATE TABLE marker (hit int)");
            for (int i = 0; i < PROCESSES; i++) {
                TestProcess process = new TestProcess(server.source(), settings);
                processes.add(process);
                NamedPermits permits = process.permits("export", LIMIT);
                for (int j = 0; j < CALLERS; j++) {
                    Thread caller = new Thread(() -> call(permits));
                    callers.add(caller);
                    caller.start();
                }
            }
            for (int hit = 0; hit < HITS; hit++) {
                awaitGrants(100 + ThreadLocalRandom.current().nextInt(100));
                server.execute("SET synchronous_commit = off; INSERT INTO marker VALUES (" + hit + ")");
                switch (hit % 3) {
                    case 0 -> server.kill();
                    case 1 -> server.stopImmediately();
                    default -> server.stop();
                }
                server.start();
                losses += server.query("SELECT count(*) FROM marker WHERE hit = " + hit)
                                .equals("0")
                        ? 1
                        : 0;
            }
            awaitGrants(100);
            callers.forEach(Thread::interrupt);
            for (Thread caller : callers) {
                caller.join(SOON.toMillis());
            }
            processes.forEach(TestProcess::close);
        }

        // A renewal that reaches the disk just before a hit saves the marker, so that a few hits may all lose nothing.
        assertThat(losses).as("hits in which commits were lost").isGreaterThanOrEqualTo(HITS / 20);
        assertThat(most).hasValueLessThanOrEqualTo(LIMIT);
    }

    private void awaitGrants(int count) {
        int before = grants.get();
        await().atMost(SOON).until(() -> grants.get() >= before + count);
    }

    /** A permit that is lost says so before another call gets it. */
    private void call(NamedPermits permits) {
        while (!Thread.currentThread().isInterrupted()) {
            try (Permit permit = permits.acquire("export")) {
                synchronized (open) {
                    open.add(permit);
                    int valid =
                            Math.toIntExact(open.stream().filter(Permit::isHeld).count());
                    most.accumulateAndGet(valid, Math::max);
                }
                grants.incrementAndGet();
                TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(20));
                synchronized (open) {
                    open.remove(permit);
                }
            } catch (InterruptedException e) {
                return;
            } catch (PermitBackendException e) {
                // the server is away
            }
        }
    }
}
