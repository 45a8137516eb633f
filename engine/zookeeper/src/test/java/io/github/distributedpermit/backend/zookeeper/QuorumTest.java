package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three servers of which two go and come back. */
class QuorumTest {

    private static final Duration SESSION = Duration.ofSeconds(10);
    private static final String ROOT = "/quorum";
    private static final String KEY = "export";

    private final TestingCluster ensemble = Servers.ensemble(Servers.TICK_MILLIS);
    private final List<TestProcess> processes = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() throws Exception {
        processes.forEach(TestProcess::close);
        try (Observer observer = new Observer(ensemble.getConnectString(), ROOT)) {
            patiently().untilAsserted(() -> assertThat(observer.tree()).isEmpty());
        }
        ensemble.close();
    }

    private static ConditionFactory patiently() {
        return await().atMost(Duration.ofSeconds(90)).ignoreExceptions();
    }

    private TestProcess process(boolean readOnly) {
        TestProcess process = TestProcess.impatient(ensemble.getConnectString(), ROOT, SESSION, readOnly);
        processes.add(process);
        return process;
    }

    private List<InstanceSpec> loseQuorum() throws Exception {
        List<InstanceSpec> lost = ensemble.getInstances().stream().limit(2).toList();
        for (InstanceSpec server : lost) {
            ensemble.killServer(server);
        }
        return lost;
    }

    private void restart(List<InstanceSpec> lost) throws Exception {
        for (InstanceSpec server : lost) {
            ensemble.restartServer(server);
        }
    }

    private static void awaitPermit(TestProcess process, String key) {
        patiently()
                .until(() -> process.permits(key, 1)
                        .tryAcquire(key)
                        .map(TestProcess::released)
                        .orElse(false));
    }

    @Test
    void withoutQuorumNothingIsGrantedAndAfterwardsEverythingIs() throws Exception {
        TestProcess one = process(false);
        TestProcess other = process(false);
        awaitPermit(one, "ready");
        awaitPermit(other, "ready");
        Permit permit = one.permits(KEY, 1).acquire(KEY);
        AtomicInteger losses = new AtomicInteger();
        permit.onLoss(losses::incrementAndGet);

        List<InstanceSpec> lost = loseQuorum();
        assertThatExceptionOfType(PermitBackendException.class)
                .isThrownBy(() -> other.permits(KEY, 1).tryAcquire(KEY));
        CompletableFuture<Permit> waiting =
                other.permits(KEY, 1).acquireAsync(PermitRequest.of(KEY).withTimeout(Duration.ofSeconds(120)));
        restart(lost);
        awaitPermit(one, "again");

        assertThat(permit.isHeld() && waiting.isDone()).as("held twice").isFalse();
        await().untilAsserted(() ->
                assertThat(losses.get()).as("held or lost, never both").isEqualTo(permit.isHeld() ? 0 : 1));
        permit.release();
        waiting.orTimeout(120, TimeUnit.SECONDS).join().release();
    }

    /** A process gives up after a half of its session, and the ensemble only after a whole one, in which it has a leader. */
    @Test
    void sessionThatWasGivenUpAndSurvivedLeavesNoNode() throws Exception {
        TestProcess process = process(false);
        awaitPermit(process, "ready");
        Permit permit = process.permits(KEY, 1).acquire(KEY);
        AtomicInteger losses = new AtomicInteger();
        permit.onLoss(losses::incrementAndGet);

        List<InstanceSpec> lost = loseQuorum();
        patiently().until(() -> losses.get() == 1);
        restart(lost);
        awaitPermit(process, KEY);

        try (Observer observer = new Observer(ensemble.getConnectString(), ROOT)) {
            patiently()
                    .untilAsserted(() -> assertThat(observer.memberNodes(KEY)).isEmpty());
        }
    }

    /** A server without quorum serves clients that allow it, with what it last knew. */
    @Test
    @Tag("slow")
    void readOnlyModeIsNoSessionForPermits() throws Exception {
        TestProcess process = process(true);
        process.permits(KEY, 1).acquire(KEY).release();
        List<ConnectionState> states = new ArrayList<>();
        process.client().getConnectionStateListenable().addListener((client, state) -> states.add(state));

        List<InstanceSpec> lost = loseQuorum();
        patiently().until(() -> List.copyOf(states).contains(ConnectionState.READ_ONLY));
        assertThatExceptionOfType(PermitBackendException.class)
                .isThrownBy(() -> process.permits(KEY, 1).tryAcquire(KEY));
        restart(lost);

        awaitPermit(process, KEY);
    }
}
