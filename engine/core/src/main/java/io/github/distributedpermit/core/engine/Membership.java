package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.call.NamedCalls;
import io.github.distributedpermit.core.call.Outcomes;
import io.github.distributedpermit.core.call.StateQueries;
import io.github.distributedpermit.core.key.Admission;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.KeyRegistry;
import io.github.distributedpermit.core.member.Shutdown;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import java.util.concurrent.CompletionStage;

/**
 * One membership of the store, from the join to the leave. A process that is stopped and started again gets another one, with
 * an id of its own: what belongs to the first, such as a delayed answer or a permit that a call still holds, has no effect on
 * the second. Thread-safe.
 */
final class Membership {

    final Member member;
    final KeyRegistry registry;
    final Outcomes outcomes;
    final NamedCalls.Present calls;
    private final Shutdown shutdown;
    private volatile boolean ending;

    /** Joins the store. */
    Membership(PermitBackend backend, Member member, CoreSettings settings, CoreEnvironment environment) {
        this.member = member;
        shutdown = new Shutdown(settings.commandTimeout(), environment.scheduler());
        registry = new KeyRegistry(backend, member, settings, environment, shutdown::progress);
        outcomes = new Outcomes(environment.observers(), registry, backend.address());
        calls = new NamedCalls.Present(registry, outcomes, new StateQueries(registry, environment));
    }

    /** Whether the shutdown has begun. */
    boolean isEnding() {
        return ending;
    }

    CompletionStage<Void> shutdown() {
        ending = true;
        return shutdown.begin(registry, Admission.WITHOUT_WAITING);
    }

    CompletionStage<Void> drain() {
        ending = true;
        return shutdown.begin(registry, Admission.NONE);
    }

    /** {@link #drain()} without waiting for running calls, then leaves the store. */
    void leave() {
        ending = true;
        shutdown.begin(registry, Admission.NONE);
        shutdown.awaitReturns(registry);
        registry.leave();
    }
}
