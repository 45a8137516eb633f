package io.github.distributedpermit.core.call;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitContext;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.PermitState;
import io.github.distributedpermit.core.LogSafe;
import io.github.distributedpermit.core.key.Grant;
import io.github.distributedpermit.core.key.KeyQueue;
import io.github.distributedpermit.core.key.Outcome;
import io.github.distributedpermit.core.key.PermitStats;
import io.github.distributedpermit.core.key.Waiter;
import io.github.distributedpermit.core.member.KeyRegistry;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The entrance for the calls of one name: checks a request, tries the fast path for an idle permit, and otherwise puts a
 * {@link Waiter} into the key's queue and waits, parked ({@link ParkedCall}) or with a future ({@link FutureCall}).
 * Thread-safe. Whatever it throws, the call has left the queue and holds nothing.
 */
public final class NamedCalls implements NamedPermits {

    private final PermitStats stats;
    private final Settled settled;
    private final KeyRegistry registry;
    private final Outcomes outcomes;
    private final StateQueries states;

    /** The calls of one name. */
    public NamedCalls(
            PermitStats stats, Settled settled, KeyRegistry registry, Outcomes outcomes, StateQueries states) {
        this.stats = stats;
        this.settled = settled;
        this.registry = registry;
        this.outcomes = outcomes;
        this.states = states;
    }

    @Override
    public String name() {
        return stats.name();
    }

    @Override
    public PermitRequest request(String key) {
        return stats.callsWait()
                ? PermitRequest.builder(key)
                        .timeout(stats.definition().timeout())
                        .build()
                : PermitRequest.builder(key).withoutWaiting().build();
    }

    @Override
    public CompletableFuture<PermitState> stateAsync(String key) {
        return states.query(stats, PermitRequest.of(key).key());
    }

    @Override
    public PermitState state(String key) {
        return states.await(stats, PermitRequest.of(key).key());
    }

    @Override
    public Permit acquire(PermitRequest asked) throws InterruptedException {
        check(asked);
        PermitRequest request = normal(asked);
        if (Thread.interrupted()) {
            throw new InterruptedException("Interrupted before waiting for permit '%s', key '%s'"
                    .formatted(LogSafe.escape(stats.name()), LogSafe.escape(request.key())));
        }
        long now = registry.now();
        Permit immediate = withoutQueue(request, now);
        if (immediate != null) {
            return immediate;
        }
        ParkedCall call = new ParkedCall(stats, request, now);
        try {
            Outcome outcome = call.await(enter(request, call.waiter()), outcomes);
            return outcomes.permit(stats, request, call.waiter(), outcome);
        } finally {
            outcomes.left(stats, call.waiter());
        }
    }

    @Override
    public Permit acquireUninterruptibly(PermitRequest asked) {
        check(asked);
        PermitRequest request = normal(asked);
        long now = registry.now();
        Permit immediate = withoutQueue(request, now);
        if (immediate != null) {
            return immediate;
        }
        ParkedCall call = new ParkedCall(stats, request, now);
        try {
            Outcome outcome = call.awaitUninterruptibly(enter(request, call.waiter()), outcomes);
            return outcomes.permit(stats, request, call.waiter(), outcome);
        } finally {
            outcomes.left(stats, call.waiter());
        }
    }

    @Override
    public CompletableFuture<Permit> acquireAsync(PermitRequest asked) {
        check(asked);
        PermitRequest request = normal(asked);
        FutureCall call = new FutureCall(stats, request, registry, outcomes);
        Grant idle = idle(request, call.waiter().arrival);
        if (idle != null) {
            call.complete(outcomes.taken(idle));
            return call;
        }
        try {
            call.follow(enter(request, call.waiter()));
        } catch (PermitRejectedException e) {
            call.completeExceptionally(e);
        } catch (RuntimeException | Error e) {
            giveUp(request, call.waiter());
            throw e;
        }
        return call;
    }

    /** A time-out of zero is the same as not waiting. */
    private static PermitRequest normal(PermitRequest request) {
        boolean patient = request.timeout() == null || !request.timeout().isZero();
        return patient ? request : request.withoutWaiting();
    }

    /** A permit for which the call need not enter the queue: one that its thread holds already, or one that needs no claim. */
    private @Nullable Permit withoutQueue(PermitRequest request, long now) {
        Permit own = request.reentrant() ? PermitContext.join(request) : null;
        if (own != null) {
            return own;
        }
        Grant idle = idle(request, now);
        return idle == null ? null : outcomes.taken(idle);
    }

    /** A permit that needs no claim: one that is idle in this process, or any of a name without a limit. */
    private @Nullable Grant idle(PermitRequest request, long now) {
        if (stats.policy().isUnlimited()) {
            return registry.storeless().grant(stats, request.key(), request.permits(), now);
        }
        KeyQueue queue = registry.find(request.key());
        return queue == null ? null : queue.take(stats, request.permits(), now);
    }

    /** Puts the waiter into the queue of its key; the caller has to wait then. */
    private KeyQueue enter(PermitRequest request, Waiter waiter) {
        registry.repair();
        outcomes.arrived(stats, waiter);
        KeyQueue entered = null;
        try {
            entered = find(request, waiter);
            return entered;
        } finally {
            if (entered == null) {
                giveUp(request, waiter);
            }
        }
    }

    /** The call ends with an exception: it leaves the queue, and a permit that it has just been granted goes back. */
    private void giveUp(PermitRequest request, Waiter waiter) {
        outcomes.left(stats, waiter);
        KeyQueue queue = registry.find(request.key());
        if (waiter.decide(Outcome.Abandoned.ABANDONED)) {
            if (queue != null) {
                queue.left(waiter);
            }
        } else if (waiter.outcome() instanceof Grant grant) {
            grant.release();
        }
        outcomes.abandoned(stats, waiter);
    }

    /** Enters the queue of the key, or a new one if that has just been retired. */
    private KeyQueue find(PermitRequest request, Waiter waiter) {
        while (true) {
            KeyQueue queue = registry.queue(request.key(), stats.policy());
            if (queue == null) {
                Outcome refused = new Outcome.Refused(Reason.TOO_MANY_KEYS);
                waiter.decide(refused);
                throw outcomes.failure(stats, request, waiter, refused);
            }
            if (queue.enter(waiter)) {
                return queue;
            }
            // of two names, one may have got its new limit and the other not yet
            if (!queue.fits(stats) && !settled.look(() -> queue.fits(stats))) {
                throw new IllegalArgumentException(
                        "Key '%s' is in use under another name with another limit than the %d of permit '%s'; give both names one limit"
                                .formatted(
                                        LogSafe.escape(request.key()),
                                        stats.policy().limit(),
                                        stats.name()));
            }
        }
    }

    /** Looks at something once no change of settings is half applied. */
    public interface Settled {
        boolean look(BooleanSupplier what);
    }

    private void check(PermitRequest request) {
        if (request.permits() > stats.policy().limit()) {
            throw new IllegalArgumentException("A call of permit '%s' asks for %d permits, but its limit is %d"
                    .formatted(stats.name(), request.permits(), stats.policy().limit()));
        }
        if (request.name() != null && !request.name().equals(stats.name())) {
            throw new IllegalArgumentException(
                    "A request for permit '%s' was given to the permits of '%s'; leave out its name, or use named(\"%s\")"
                            .formatted(
                                    LogSafe.escape(request.name()),
                                    LogSafe.escape(stats.name()),
                                    LogSafe.escape(request.name())));
        }
    }
}
