package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The core on a store that keeps its members alive by sessions. */
class SessionStoreTest {

    private static final Duration VALID =
            SimSessionStore.SESSION.minus(SimSessionStore.SESSION.dividedBy(Policy.MARGIN));

    private final Timeline time = new Timeline();
    private final SimSessionStore store = new SimSessionStore(time);
    private final SimProcess process = new SimProcess("a", time, 77);
    private final PermitEngine engine = new PermitEngine(
            store.backend(process),
            new Member("a", "a"),
            Bench.storeTimeout(Duration.ofHours(1)),
            PermitSettings.NONE,
            Map.of(Bench.KEY, PermitSettings.ofLimit(1)),
            new CoreEnvironment(this::clock, process, Runnable::run, Runnable::run, () -> 0.5, Observers.NONE));
    private final SimSessionStore.Link link = store.link("a");
    private final List<String> told = new ArrayList<>();

    /** The reading of the clock that fails, counted down; 0 for none. */
    private int failingReading;

    private long clock() {
        if (failingReading > 0 && --failingReading == 0) {
            throw new InternalError("planted");
        }
        return process.clock();
    }

    @BeforeEach
    void begin() {
        link.alive();
    }

    private Asked acquire() {
        return new Asked(engine.named(Bench.KEY).acquireAsync(PermitRequest.of(Bench.KEY)));
    }

    private Asked tryAcquire() {
        return new Asked(
                engine.named(Bench.KEY).acquireAsync(PermitRequest.of(Bench.KEY).withoutWaiting()));
    }

    private Permit hold() {
        Asked call = acquire();
        run(Duration.ofMillis(2));
        return call.permit();
    }

    private void run(Duration duration) {
        time.run(duration.toNanos());
    }

    @Test
    void aSessionKeepsPermitsWithoutAClaim() {
        Permit permit = hold();
        for (int i = 0; i < 20; i++) {
            run(Duration.ofSeconds(3));
            link.alive();
        }
        assertThat(permit.isHeld()).isTrue();
        assertThat(link.claims).hasSize(1);
        permit.release();
        run(Duration.ofSeconds(3));
        assertThat(link.claims).hasSize(2);
        assertThat(engine.keys()).isZero();
    }

    @Test
    void aPermitIsValidUntilTheSessionMayHaveEnded() {
        Permit permit = hold();
        permit.onLoss(() -> told.add("lost"));
        run(VALID.minusMillis(2).minusNanos(1));
        assertThat(permit.isHeld()).isTrue();
        time.run(1);
        assertThat(permit.isHeld()).isFalse();
        assertThat(told).containsExactly("lost");
    }

    @Test
    void aLostSessionLosesEverythingAtOnce() {
        Permit permit = hold();
        Asked waiter = acquire();
        permit.onLoss(() -> told.add("lost"));
        link.lose();
        assertThat(told).containsExactly("lost");
        assertThat(permit.isHeld()).isFalse();
        run(Duration.ofSeconds(1));
        link.alive();
        run(Duration.ofSeconds(2));
        assertThat(waiter.holds()).isTrue();
        assertThat(store.used()).isEqualTo(1);
    }

    @Test
    void aCallThatStillRunsWhenItsInstanceLeavesLosesItsPermit() {
        Permit permit = hold();
        permit.onLoss(() -> told.add("lost"));

        engine.close();

        assertThat(told).containsExactly("lost");
        assertThat(permit.isHeld()).isFalse();
    }

    /** The records are gone whether or not the line could be told: others may have the permit already. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aLossThatAnErrorCutsShortIsMadeUpForBeforeTheNextSession(int reading) {
        Permit permit = hold();
        permit.onLoss(() -> told.add("lost"));
        failingReading = reading;
        try {
            link.lose();
        } catch (InternalError e) {
            // the store's client would see it
        }
        assertThat(failingReading).isZero();
        link.alive();
        assertThat(permit.isHeld()).isFalse();
        run(Duration.ofSeconds(1));
        assertThat(permit.isHeld()).isFalse();
        assertThat(told).containsExactly("lost");
        assertThat(tryAcquire().isWaiting()).as("nothing lies here").isTrue();
    }

    @Test
    void aGrantPushedToALostSessionIsNotTakenForOneOfTheNext() {
        Permit permit = hold();
        long sequence = link.claims.get(0).sequence();
        permit.release();
        run(Duration.ofMillis(3));
        long last = link.claims.get(link.claims.size() - 1).sequence();
        assertThat(last).isGreaterThan(sequence);
        store.refusing = true;
        Asked waiter = acquire();
        run(Duration.ofMillis(3));
        link.lose();
        link.alive();
        link.listener.granted(Bench.KEY, new Holding(1, 1, last, Long.MAX_VALUE / 2, Holding.Others.NONE));
        assertThat(waiter.isWaiting()).isTrue();
    }

    @Test
    void anUnconfirmedSessionIsNoHotLoop() {
        run(SimSessionStore.SESSION);
        Asked waiter = acquire();
        run(Duration.ofSeconds(5));
        assertThat(link.claims.size()).isLessThan(20);
        assertThat(waiter.isWaiting()).isTrue();
        link.alive();
        run(Duration.ofMillis(1_100));
        assertThat(waiter.holds()).isTrue();
    }

    @Test
    void aTryFailsWhileTheSessionIsUnconfirmed() {
        run(SimSessionStore.SESSION);
        Asked call = tryAcquire();
        run(Duration.ofSeconds(2));
        assertThat(call.failure()).isInstanceOf(PermitBackendException.class);
    }

    @Test
    void aReturnIsRepeatedAsLongAsTheSessionMayLive() {
        Permit permit = hold();
        store.refusing = true;
        permit.release();
        for (int i = 0; i < 20; i++) {
            run(Duration.ofSeconds(3));
            link.alive();
        }
        assertThat(store.used()).isEqualTo(1);
        store.refusing = false;
        run(Duration.ofSeconds(2));
        assertThat(store.used()).isZero();
        run(Duration.ofSeconds(3));
        assertThat(engine.keys()).isZero();
    }

    /** A store with sessions forgets nothing by time, so that what was given back stays given back until it answers. */
    @Test
    void whatWasGivenBackAndNotConfirmedIsNotTakenAgainHoweverLate() {
        Permit permit = hold();
        long confirmed = link.claims.get(0).sequence();
        store.refusing = true;
        permit.release();
        Asked waiter = new Asked(
                engine.named(Bench.KEY).acquireAsync(PermitRequest.of(Bench.KEY).withTimeout(Duration.ofMinutes(5))));
        for (int i = 0; i < 20; i++) {
            run(Duration.ofSeconds(3));
            link.alive();
        }
        link.listener.granted(Bench.KEY, new Holding(1, 1, confirmed, Long.MAX_VALUE / 2, Holding.Others.NONE));
        assertThat(waiter.isWaiting()).isTrue();
    }

    @Test
    void aKeyIsForgottenWithTheSession() {
        Permit permit = hold();
        store.refusing = true;
        permit.release();
        run(Duration.ofSeconds(5));
        assertThat(engine.keys()).isEqualTo(1);
        link.lose();
        run(Duration.ofSeconds(5));
        assertThat(engine.keys()).isZero();
    }
}
