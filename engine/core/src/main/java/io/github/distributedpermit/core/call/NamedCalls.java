package io.github.distributedpermit.core.call;

import io.github.distributedpermit.AllOrNothing;
import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitContext;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.PermitState;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.Limit;
import io.github.distributedpermit.core.LogSafe;
import io.github.distributedpermit.core.key.Grant;
import io.github.distributedpermit.core.key.KeyQueue;
import io.github.distributedpermit.core.key.Outcome;
import io.github.distributedpermit.core.key.PermitName;
import io.github.distributedpermit.core.key.Waiter;
import io.github.distributedpermit.core.member.KeyRegistry;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.StackRoom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The entrance for the calls of one name, in the present membership of the store, which may be another one than that of the call before: checks a request, tries the fast path for an idle permit, and otherwise puts a
 * {@link Waiter} into the key's queue and waits, parked ({@link ParkedCall}) or with a future ({@link FutureCall}).
 * Thread-safe. Whatever it throws, the call has left the queue and holds nothing.
 */
public final class NamedCalls implements NamedPermits {

    private final PermitName permit;
    private final Names names;
    private final Supplier<Present> present;

    /** Whether calls take no permits but those of this name, although it may lie within another one. */
    private final boolean alone;

    /** The name that calls have a permit of already, which lies within this one. */
    private final @Nullable String inner;

    /** @param present the membership that a call which begins now belongs to */
    public NamedCalls(PermitName permit, Names names, Supplier<Present> present) {
        this(permit, names, present, false, null);
    }

    private NamedCalls(
            PermitName permit, Names names, Supplier<Present> present, boolean alone, @Nullable String inner) {
        this.permit = permit;
        this.names = names;
        this.present = present;
        this.alone = alone;
        this.inner = inner;
    }

    /** What calls need of one membership. */
    public record Present(KeyRegistry registry, Outcomes outcomes, StateQueries states) {}

    @Override
    public String name() {
        return permit.name();
    }

    @Override
    public PermitRequest request(String key) {
        return permit.callsWait()
                ? PermitRequest.builder(key)
                        .timeout(permit.definition().timeout())
                        .build()
                : PermitRequest.builder(key).withoutWaiting().build();
    }

    @Override
    public @Nullable PermitDefinition within() {
        String outer = permit.definition().within();
        return outer == null ? null : names.definition(outer);
    }

    @Override
    public NamedPermits alone(@Nullable String innerName) {
        return new NamedCalls(permit, names, present, true, innerName);
    }

    private boolean isNested() {
        return !alone && permit.definition().within() != null;
    }

    private AllOrNothing nested(PermitRequest request) {
        check(request);
        return AllOrNothing.of(
                names.permits(), List.of(request.toBuilder().name(permit.name()).build()));
    }

    @Override
    public CompletableFuture<PermitState> stateAsync(String key) {
        return present.get().states.query(permit, PermitRequest.of(key).key());
    }

    @Override
    public PermitState state(String key) {
        return present.get().states.await(permit, PermitRequest.of(key).key());
    }

    @Override
    public Permit acquire(PermitRequest request) throws InterruptedException {
        return isNested() ? nested(request).acquireAsOne() : acquire(request, true);
    }

    @Override
    public Permit acquireUninterruptibly(PermitRequest request) {
        try {
            return isNested() ? nested(request).acquireAsOneUninterruptibly() : acquire(request, false);
        } catch (InterruptedException e) {
            throw new IllegalStateException("The wait was interrupted although it may not be", e);
        }
    }

    private Permit acquire(PermitRequest asked, boolean interruptible) throws InterruptedException {
        check(asked);
        PermitRequest request = normal(asked);
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException("Interrupted before waiting for permit '%s', key '%s'"
                    .formatted(LogSafe.escape(permit.name()), LogSafe.escape(request.key())));
        }
        Present in = present.get();
        long now = in.registry.now();
        Permit own = request.reentrant() ? PermitContext.join(request) : null;
        if (own != null) {
            return own;
        }
        // All before the permit is taken: a method called after it may find the stack full, and the permit would have
        // no owner.
        Caller caller = in.outcomes.caller(request);
        boolean followed = in.outcomes.areFollowed();
        if (followed) {
            StackRoom.checkForReturn();
        }
        Grant idle = idle(in, request, now);
        if (idle != null) {
            idle.caller = caller;
            return followed ? in.outcomes.taken(idle) : idle;
        }
        StackRoom.check(); // so that what ends the call after an error has some room
        ParkedCall call = new ParkedCall(permit, request, now);
        call.waiter().caller = caller;
        prepare(call.waiter(), request);
        try {
            Outcome outcome = call.await(enter(in, request, call.waiter()), in.outcomes, interruptible);
            return in.outcomes.permit(permit, request, call.waiter(), outcome);
        } catch (Error e) {
            if (call.waiter().outcome() instanceof Grant grant) {
                grant.release(); // if there was not even room for the last call above
            }
            throw e;
        } finally {
            in.outcomes.left(permit, call.waiter());
        }
    }

    @Override
    public CompletableFuture<Permit> acquireAsync(PermitRequest asked) {
        if (isNested()) {
            return nested(asked).acquireAsOneAsync();
        }
        check(asked);
        PermitRequest request = normal(asked);
        Present in = present.get();
        FutureCall call = new FutureCall(permit, request, in.registry, in.outcomes);
        Waiter waiter = call.waiter();
        waiter.caller = in.outcomes.caller(request);
        prepare(waiter, request);
        boolean followed = in.outcomes.areFollowed();
        StackRoom.checkForReturn();
        Grant idle = idle(in, request, waiter.arrival);
        if (idle != null) {
            idle.asynchronous = true;
            idle.caller = waiter.caller;
            try {
                call.complete(followed ? in.outcomes.taken(idle) : idle);
            } catch (RuntimeException | Error e) {
                idle.release();
                throw e;
            }
            return call;
        }
        StackRoom.check();
        try {
            call.follow(enter(in, request, waiter));
        } catch (PermitRejectedException e) {
            call.completeExceptionally(e);
        } catch (RuntimeException | Error e) {
            giveUp(in, request, waiter);
            throw e;
        }
        return call;
    }

    private void prepare(Waiter waiter, PermitRequest request) {
        waiter.inner = inner;
        if (request.limit() != null) {
            waiter.limit = request.limit();
        }
        waiter.fairBy = request.fairBy();
        waiter.fairWeight = request.fairWeight();
        Duration headStart = request.headStart();
        if (headStart == null) {
            headStart = permit.definition().headStart();
        }
        if (headStart != null && !headStart.isZero()) {
            waiter.startAhead(headStart.toNanos());
        }
    }

    /** A time-out of zero is the same as not waiting. */
    private static PermitRequest normal(PermitRequest request) {
        boolean patient = request.timeout() == null || !request.timeout().isZero();
        return patient ? request : request.withoutWaiting();
    }

    /** A permit that needs no claim: one that is idle in this process, or any of a name without a limit. */
    private @Nullable Grant idle(Present in, PermitRequest request, long now) {
        if (permit.policy().isUnlimited()) {
            return in.registry.unlimitedGrants().grant(permit, request.key(), request.permits(), now);
        }
        boolean plain = (request.limit() == null || !permit.policy().isPerCall()) && request.fairBy() == null;
        KeyQueue queue = plain ? in.registry.find(request.key()) : null;
        return queue == null ? null : queue.take(permit, request.permits(), now);
    }

    /** Puts the waiter into the queue of its key; the caller has to wait then. */
    private KeyQueue enter(Present in, PermitRequest request, Waiter waiter) {
        in.registry.repair();
        in.outcomes.arrived(permit, waiter);
        KeyQueue entered = null;
        try {
            entered = find(in, request, waiter);
            if (waiter.overtaken > 0) {
                in.outcomes.overtook(waiter);
            }
            return entered;
        } finally {
            if (entered == null) {
                giveUp(in, request, waiter);
            }
        }
    }

    /** The call ends with an exception: it leaves the queue, and a permit that it has just been granted goes back. */
    private void giveUp(Present in, PermitRequest request, Waiter waiter) {
        in.outcomes.left(permit, waiter);
        KeyQueue queue = in.registry.find(request.key());
        if (waiter.decide(Outcome.Abandoned.ABANDONED)) {
            if (queue != null) {
                queue.left(waiter);
            }
        } else if (waiter.outcome() instanceof Grant grant) {
            grant.release();
        }
        in.outcomes.abandoned(permit, waiter);
    }

    /** Enters the queue of the key, or a new one if that has just been retired. */
    private KeyQueue find(Present in, PermitRequest request, Waiter waiter) {
        while (true) {
            KeyQueue queue = in.registry.queue(request.key(), permit.policy());
            if (queue == null) {
                Outcome refused = new Outcome.Refused(Reason.TOO_MANY_KEYS);
                waiter.decide(refused);
                throw in.outcomes.failure(permit, request, waiter, refused);
            }
            if (queue.enter(waiter)) {
                return queue;
            }
            check(request); // the settings may have changed
            // of two names, one may have got its new limit and the other not yet
            if (!queue.fits(permit) && !names.settled(() -> queue.fits(permit))) {
                throw new IllegalArgumentException(
                        "Key '%s' is in use under another name with another limit than that of permit '%s' (%s); give both names one limit"
                                .formatted(
                                        LogSafe.escape(request.key()),
                                        permit.name(),
                                        Limit.of(permit.policy().limit())));
            }
        }
    }

    /** What calls of one name need of all names. */
    public interface Names {

        /** Looks at something once no change of settings is half applied. */
        boolean settled(BooleanSupplier look);

        /** The definition in effect of this name. */
        PermitDefinition definition(String name);

        /** The permits of all names. */
        Permits permits();
    }

    private void check(PermitRequest request) {
        if (permit.policy().isPerCall()) {
            int highest = present.get().registry.highestLimit();
            if (request.limit() == null || request.limit() > highest) {
                throw new IllegalArgumentException(
                        "Each call of permit '%s' has to state a limit from 1 to %d; this one states %s"
                                .formatted(permit.name(), highest, request.limit() == null ? "none" : request.limit()));
            }
        }
        if (request.permits() > permit.policy().limit()) {
            throw new IllegalArgumentException("A call of permit '%s' asks for %d permits, but its limit is %d"
                    .formatted(permit.name(), request.permits(), permit.policy().limit()));
        }
        if (request.name() != null && !request.name().equals(permit.name())) {
            throw new IllegalArgumentException(
                    "A request for permit '%s' was given to the permits of '%s'; leave out its name, or use named(\"%s\")"
                            .formatted(
                                    LogSafe.escape(request.name()),
                                    LogSafe.escape(permit.name()),
                                    LogSafe.escape(request.name())));
        }
    }
}
