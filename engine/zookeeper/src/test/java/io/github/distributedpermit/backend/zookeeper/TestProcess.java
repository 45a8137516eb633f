package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Member;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooKeeper;

/** A process as the ensemble sees it: the real core on a client, and so a session, of its own. */
final class TestProcess implements AutoCloseable {

    static final Duration IDLE = Duration.ofMillis(200);

    private static final CoreSettings PATIENT = CoreSettings.DEFAULTS.toBuilder()
            .commandTimeout(Duration.ofSeconds(10))
            .build();

    private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(2);
    private final CuratorFramework client;
    private final PermitEngine engine;

    TestProcess(String connectString, String root, Duration session) {
        this(Clients.connect(connectString, session, false), root, session, PATIENT);
    }

    /** For tests in which the servers do not answer. */
    static TestProcess impatient(String connectString, String root, Duration session, boolean readOnly) {
        return new TestProcess(
                Clients.connect(connectString, session, readOnly),
                root,
                session,
                PATIENT.toBuilder().commandTimeout(Duration.ofSeconds(1)).build());
    }

    TestProcess(CuratorFramework client, String root, Duration session, Duration recheck) {
        this(client, root, session, PATIENT.toBuilder().recheck(recheck).build());
    }

    private TestProcess(CuratorFramework client, String root, Duration session, CoreSettings settings) {
        this.client = client;
        Scheduler scheduler = (task, delay) -> {
            Future<?> scheduled = timers.schedule(task, delay, TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        };
        this.engine = new PermitEngine(
                new ZooKeeperPermitBackend(client, new ZooKeeperSettings(root, session, IDLE)),
                new Member(UUID.randomUUID().toString(), "test"),
                settings,
                PermitSettings.NONE,
                Map.of(),
                CoreEnvironment.of(System::nanoTime, scheduler, timers, timers, Observers.NONE));
    }

    /** To say that a try succeeded, and keep nothing. */
    static boolean released(Permit permit) {
        permit.release();
        return true;
    }

    /** Waiting calls have no time-out. */
    NamedPermits permits(String name, int limit) {
        engine.define(
                PermitDefinition.named(name, "test").key(name).limit(limit).build());
        return engine.named(name);
    }

    CuratorFramework client() {
        return client;
    }

    PermitEngine engine() {
        return engine;
    }

    /** Ends the session at the server, behind the client's back: a client that knows its password closes it. */
    void killSession(String connectString) {
        try {
            ZooKeeper own = client.getZookeeperClient().getZooKeeper();
            CountDownLatch connected = new CountDownLatch(1);
            ZooKeeper same = new ZooKeeper(
                    connectString,
                    own.getSessionTimeout(),
                    event -> connected.countDown(),
                    own.getSessionId(),
                    own.getSessionPasswd());
            if (!connected.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("No client can take over the session");
            }
            same.close();
        } catch (Exception e) {
            throw new IllegalStateException("The session could not be killed", e);
        }
    }

    @Override
    public void close() {
        engine.close();
        client.close();
        timers.shutdownNow();
    }
}
