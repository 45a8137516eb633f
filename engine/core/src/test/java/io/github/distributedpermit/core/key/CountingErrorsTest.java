package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Member;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An instance that an error keeps from being counted, so that the others divide a limit without it. */
class CountingErrorsTest {

    private static final String COUNTED = "distributed-permit.instances";
    private static final Duration BETWEEN_LOOKS = Bench.LEASE.dividedBy(3);

    private final Bench bench = new Bench();
    private final SimProcess process = new SimProcess("a", bench.time, 1_000_000_007L);
    private boolean full;
    private final PermitEngine engine = new PermitEngine(
            bench.network.backend(process),
            new Member("a", "a"),
            CoreSettings.DEFAULTS,
            PermitSettings.NONE,
            Map.of(
                    Bench.KEY,
                    PermitSettings.builder()
                            .limit(2)
                            .onStoreFailure(OnStoreFailure.LOCAL)
                            .build()),
            new CoreEnvironment(
                    process::clock, this::schedule, Runnable::run, Runnable::run, () -> 0.5, Observers.NONE));
    private final SimLink link = bench.network.link("a");

    /** No other timer has this delay while no call holds a permit. */
    private Scheduler.Timer schedule(Runnable task, long delay) {
        if (full && delay == BETWEEN_LOOKS.toNanos()) {
            full = false;
            throw new OutOfMemoryError("planted");
        }
        return process.schedule(task, delay);
    }

    @BeforeEach
    void countingEnds() {
        engine.named(Bench.KEY);
        bench.run(Bench.LEASE);
        full = true;
        try {
            bench.run(Bench.LEASE);
        } catch (OutOfMemoryError e) {
            // as the timer's thread would receive it
        }
        assertThat(full).isFalse();
        long before = looks();
        bench.run(Bench.LEASE);
        assertThat(looks()).isEqualTo(before).isPositive();
    }

    private Asked acquire() {
        return new Asked(engine.named(Bench.KEY).acquireAsync(PermitRequest.of(Bench.KEY)));
    }

    private long looks() {
        return link.claims.stream().filter(claim -> claim.key().equals(COUNTED)).count();
    }

    @Test
    void isCountedAgainFromTheNextClaimOn() {
        long before = looks();
        acquire().future.thenAccept(permit -> permit.release());
        bench.run(Bench.LEASE);

        assertThat(looks()).isGreaterThan(before + 1);
    }

    @Test
    void grantsNoShareInAnOutageThatBeginsBefore() {
        bench.conditions.claimsLost = true;
        Asked call = acquire();
        bench.run(Bench.STORE_TIMEOUT.multipliedBy(3));

        assertThat(call.holds()).isFalse();
    }
}
