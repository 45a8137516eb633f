package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Release;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Permits that are idle in a store without other members; on the store in memory and a clock that the test drives. */
class AloneTest {

    private static final String KEY = "report";

    private final Timeline time = new Timeline();
    private final LocalPermitBackend backend = new LocalPermitBackend(time::now);

    @Test
    void permitGoesFromCallToCallWithoutAClaim() throws Exception {
        PermitEngine engine = member("a", Release.ASYNC);
        use(engine);

        Permit second = use(engine);
        Permit third = use(engine);

        assertThat(third.token().version()).isEqualTo(second.token().version());
        assertThat(third.token()).isGreaterThan(second.token());
    }

    @Test
    void newMemberFindsEveryIdlePermit() throws Exception {
        PermitEngine engine = member("a", Release.ASYNC);
        use(engine);
        use(engine);

        PermitEngine newcomer = member("b", Release.ASYNC);

        assertThat(newcomer.tryAcquire(KEY)).isPresent();
        assertThat(engine.tryAcquire(KEY)).isEmpty();
    }

    @Test
    void nothingStaysIdleWhileAnotherMemberIsThere() throws Exception {
        PermitEngine engine = member("a", Release.ASYNC);
        PermitEngine other = member("b", Release.ASYNC);
        use(engine);

        assertThat(used(other)).isZero();
    }

    @Test
    void permitsMayStayAgainWhenTheOthersHaveLeft() throws Exception {
        PermitEngine engine = member("a", Release.ASYNC);
        member("b", Release.ASYNC).close();
        use(engine);

        assertThat(use(engine).token().version()).isEqualTo(use(engine).token().version());
    }

    @Test
    void operatorsDoNotSeeIdlePermitsInUse() throws Exception {
        PermitEngine engine = member("a", Release.ASYNC);
        use(engine);

        assertThat(used(engine)).isZero();
    }

    @Test
    void pauseHoldsForIdlePermitsToo() throws Exception {
        PermitEngine engine = member("a", Release.ASYNC);
        use(engine);
        use(engine);

        engine.override(KEY, OverrideLimit.of(0)).toCompletableFuture().join();

        assertThat(engine.tryAcquire(KEY)).isEmpty();
    }

    @Test
    void pauseIsHeardOfWhileAPermitIsInUse() throws Exception {
        PermitEngine engine = member("a", Release.ASYNC);
        use(engine);
        try (Permit permit = engine.acquire(KEY)) {
            assertThat(permit.isHeld()).isTrue();
            engine.override(KEY, OverrideLimit.of(0)).toCompletableFuture().join();
        }

        assertThat(engine.tryAcquire(KEY)).isEmpty();
    }

    @Test
    void idlePermitGoesBackAfterASecondAndItsKeyIsForgotten() throws Exception {
        PermitEngine engine = member("a", Release.ASYNC);
        use(engine);
        use(engine);
        use(engine);

        time.run(Duration.ofSeconds(5).toNanos());

        assertThat(engine.keys()).isZero();
    }

    @Test
    void idlePermitIsNotTakenWhenItsLeaseHasPassed() throws Exception {
        SimProcess process = new SimProcess("a", time, 1_000_000_007L);
        PermitEngine engine = member("a", Release.ASYNC, process);
        use(engine);
        long version = use(engine).token().version();

        long lease = CoreSettings.DEFAULTS.lease().toNanos();
        process.stop(2 * lease);
        time.run(lease);

        assertThat(use(engine).token().version()).isGreaterThan(version);
    }

    @Test
    void synchronousReleaseReturnsToTheStore() throws Exception {
        PermitEngine engine = member("a", Release.SYNC);
        long version = use(engine).token().version();

        assertThat(use(engine).token().version()).isGreaterThan(version);
    }

    private static Permit use(PermitEngine engine) throws InterruptedException {
        try (Permit permit = engine.acquire(KEY)) {
            assertThat(permit.isHeld()).isTrue();
            return permit;
        }
    }

    private static int used(PermitEngine engine) {
        return engine.inspect(KEY).toCompletableFuture().join().used();
    }

    private PermitEngine member(String id, Release release) {
        return member(id, release, new SimProcess(id, time, 1_000_000_007L));
    }

    private PermitEngine member(String id, Release release, SimProcess process) {
        PermitSettings settings =
                PermitSettings.builder().limit(1).release(release).build();
        return new PermitEngine(
                backend,
                new Member(id, id),
                CoreSettings.DEFAULTS,
                PermitSettings.NONE,
                Map.of(KEY, settings),
                CoreEnvironment.of(process::clock, process, Runnable::run, Runnable::run, Observers.NONE));
    }
}
