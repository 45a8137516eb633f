package io.github.distributedpermit.core;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The calls of one name. Thread-safe. */
final class NamedCalls implements NamedPermits {

    private final NameUse use;
    private final Lines lines;
    private final CallEnds ends;

    NamedCalls(NameUse use, Lines lines, CallEnds ends) {
        this.use = use;
        this.lines = lines;
        this.ends = ends;
    }

    @Override
    public String name() {
        return use.name();
    }

    @Override
    public Permit acquire(String key) throws InterruptedException {
        return acquire(PermitRequest.of(key).withTimeout(use.definition.timeout()));
    }

    @Override
    public Optional<Permit> tryAcquire(String key) throws InterruptedException {
        try {
            return Optional.of(acquire(PermitRequest.of(key).withoutWaiting()));
        } catch (PermitRejectedException e) {
            if (e.reason() == Reason.LIMIT_REACHED) {
                return Optional.empty();
            }
            throw e;
        }
    }

    @Override
    public Permit acquire(PermitRequest asked) throws InterruptedException {
        check(asked);
        PermitRequest request = normal(asked);
        if (Thread.interrupted()) {
            throw new InterruptedException("Interrupted before waiting for permit '%s', key '%s'"
                    .formatted(Text.escape(use.name()), Text.escape(request.key())));
        }
        long now = lines.now();
        Grant idle = idle(request, now);
        if (idle != null) {
            return ends.taken(use, idle);
        }
        ParkedCall call = new ParkedCall(use, request, now);
        Outcome outcome = call.await(enter(request, call.waiter()), ends);
        return ends.permit(use, request, call.waiter(), outcome);
    }

    @Override
    public CompletableFuture<Permit> acquireAsync(PermitRequest asked) {
        check(asked);
        PermitRequest request = normal(asked);
        FutureCall call = new FutureCall(use, request, lines, ends);
        Grant idle = idle(request, call.waiter().arrival);
        if (idle != null) {
            call.complete(ends.taken(use, idle));
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

    /** To wait for no time at all is not to wait. */
    private static PermitRequest normal(PermitRequest request) {
        boolean patient = request.timeout() == null || !request.timeout().isZero();
        return patient ? request : request.withoutWaiting();
    }

    /** A permit that lies idle in this process. */
    private @Nullable Grant idle(PermitRequest request, long now) {
        KeyLine line = lines.find(request.key());
        return line == null ? null : line.take(use, request.permits(), now);
    }

    private KeyLine enter(PermitRequest request, Waiter waiter) {
        lines.repair();
        ends.came(use, waiter);
        KeyLine entered = null;
        try {
            entered = find(request, waiter);
            return entered;
        } finally {
            if (entered == null) {
                giveUp(request, waiter);
            }
        }
    }

    /** The call ends with an exception: it leaves the line, and what it got at this moment goes back. */
    private void giveUp(PermitRequest request, Waiter waiter) {
        ends.left(use, waiter);
        KeyLine line = lines.find(request.key());
        if (waiter.decide(Outcome.Abandoned.ABANDONED)) {
            if (line != null) {
                line.left(waiter);
            }
        } else if (waiter.outcome() instanceof Grant grant) {
            grant.release();
        }
    }

    private KeyLine find(PermitRequest request, Waiter waiter) {
        while (true) {
            KeyLine line = lines.line(request.key(), use.policy);
            if (line == null) {
                Outcome refused = new Outcome.Refused(Reason.TOO_MANY_KEYS);
                waiter.decide(refused);
                throw ends.failure(use, request, waiter, refused);
            }
            if (!line.fits(use.policy.limit())) {
                throw new IllegalArgumentException(
                        "Key '%s' is in use under another name with another limit than the %d of permit '%s'; give both names one limit"
                                .formatted(Text.escape(request.key()), use.policy.limit(), use.name()));
            }
            if (line.enter(waiter)) {
                return line;
            }
        }
    }

    private void check(PermitRequest request) {
        if (request.permits() > use.policy.limit()) {
            throw new IllegalArgumentException("A call of permit '%s' asks for %d permits, but its limit is %d"
                    .formatted(use.name(), request.permits(), use.policy.limit()));
        }
    }
}
