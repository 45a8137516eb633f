package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.core.member.Observers;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Permits that lie within each other, while the store or the process fails. */
class ChainTest {

    private static final Duration LONG = Bench.LEASE.multipliedBy(2);

    private final Bench bench = new Bench();
    private final Party a = member("a");
    private final Party b = member("b");

    private Party member(String id) {
        Map<String, PermitSettings> settings = Map.of(
                "inner", PermitSettings.builder().limit(1).within("outer").build(), "outer", PermitSettings.ofLimit(1));
        return bench.member(id, settings, CoreSettings.DEFAULTS, Observers.NONE);
    }

    private Asked asked(Party party, String name) {
        Asked asked = new Asked(party.engine.named(name).acquireAsync(PermitRequest.of(name)));
        bench.runMillis(2);
        return asked;
    }

    @Test
    void aCallThatLosesItsInnerPermitWhileItWaitsForTheOuterOneTakesBothAnew() {
        Asked outer = asked(b, "outer");
        Asked chain = asked(a, "inner");
        a.process.stop(LONG.toNanos());
        bench.run(LONG.minusSeconds(1));
        Asked inner = new Asked(b.engine.named("inner").alone(null).acquireAsync(PermitRequest.of("inner")));
        bench.run(Duration.ofSeconds(2));
        assertThat(inner.holds()).isTrue();

        outer.release();
        bench.runMillis(5);
        assertThat(chain.isWaiting()).as("the inner permit is another call's").isTrue();
        Asked other = asked(b, "outer");
        assertThat(other.holds())
                .as("it does not keep the outer permit meanwhile")
                .isTrue();

        other.release();
        inner.release();
        bench.runMillis(5);
        assertThat(chain.holds()).isTrue();
    }

    @Test
    void eachLevelHasItsOwnBehaviourWhileTheStoreDoesNotAnswer() {
        Map<String, PermitSettings> settings = Map.of(
                "runs", level(OnStoreFailure.ALLOW, "allowed"),
                "fails", level(OnStoreFailure.ALLOW, "strict"),
                "allowed", level(OnStoreFailure.ALLOW, null),
                "strict", level(OnStoreFailure.FAIL, null));
        Party c = bench.member("c", settings, CoreSettings.DEFAULTS, Observers.NONE);
        asked(c, "runs").release();
        bench.conditions.claimsLost = true;
        Asked runs = asked(c, "runs");
        Asked fails = asked(c, "fails");
        bench.run(Bench.STORE_TIMEOUT.multipliedBy(3));
        assertThat(runs.holds()).isTrue();
        assertThat(fails.failure()).isInstanceOf(PermitBackendException.class).hasMessageContaining("'strict'");
        runs.release();
        bench.conditions.claimsLost = false;
        bench.run(Bench.LEASE.multipliedBy(2));
        Asked whole = new Asked(c.engine.named("fails").alone(null).acquireAsync(PermitRequest.of("fails")));
        bench.runMillis(2);
        assertThat(whole.holds()).as("the inner permit was given back").isTrue();
    }

    private static PermitSettings level(OnStoreFailure onStoreFailure, @Nullable String within) {
        return PermitSettings.builder()
                .limit(1)
                .onStoreFailure(onStoreFailure)
                .within(within)
                .build();
    }
}
