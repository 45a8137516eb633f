package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.ConsulApi.OutcomeUnknownException;
import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.StoreEvents;
import io.github.distributedpermit.spi.snapshot.StoreSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the member alive in Consul: makes its session, writes its fence, renews it, notices its end and makes the next.
 * Confined to the loop.
 */
final class Membership {

    private static final System.Logger LOG = System.getLogger(Membership.class.getName());
    private static final int ENDS_AT_A_TIME = 16;

    private final ConsulApi api;
    private final EventLoop loop;
    private final ConsulSettings settings;
    private final Member member;
    private final StoreEvents events;
    private final KeyUses uses;
    private final Backoff backoff = new Backoff(TimeUnit.MILLISECONDS.toNanos(100), TimeUnit.SECONDS.toNanos(2));
    private final Renewals renewals;
    private final RequestLimiter ends = new RequestLimiter(ENDS_AT_A_TIME);
    private final List<CompletableFuture<Session>> waiting = new ArrayList<>();

    private @Nullable Session session;
    private @Nullable PermitStoreException failure;
    /** The layer knows of the session; before that, claims have to fail for lack of one. */
    private boolean announced;

    private boolean ready;
    private boolean working;
    private boolean closed;
    private long fences;
    private long sessions;
    /** Under way. */
    private @Nullable CompletableFuture<Boolean> confirmation;

    Membership(
            ConsulApi api, EventLoop loop, ConsulSettings settings, Member member, StoreEvents events, KeyUses uses) {
        this.api = api;
        this.loop = loop;
        this.settings = settings;
        this.member = member;
        this.events = events;
        this.uses = uses;
        this.renewals = new Renewals(api, loop, settings, events, this::lost);
    }

    /** The session, once it can be relied on; fails at once while there is none to be had. */
    CompletableFuture<Session> session() {
        Session current = session;
        if (closed) {
            return CompletableFuture.failedFuture(
                    PermitStoreException.permanent("Member " + member.name() + " has left Consul", null));
        }
        if (ready && current != null) {
            return CompletableFuture.completedFuture(current);
        }
        PermitStoreException known = failure;
        if (!working && known != null) {
            return CompletableFuture.failedFuture(known);
        }
        CompletableFuture<Session> future = new CompletableFuture<>();
        waiting.add(future);
        work();
        return future;
    }

    /** The session as it is now, ready or not. */
    @Nullable
    Session current() {
        return session;
    }

    /** A transaction may have happened, or may yet: none follows before it cannot any more. */
    void outcomeUnknown(Session session) {
        if (session == this.session && !session.isOver()) {
            ready = false;
            work();
        }
    }

    /** Begins, or goes on with, what is missing: a session, a fence. */
    void work() {
        if (working || ready || closed) {
            return;
        }
        working = true;
        Session current = session;
        attempt(() -> {
            if (current == null) {
                create();
            } else {
                fence(current, false);
            }
        });
    }

    /** However the step ends, those who wait are answered and it is tried again. */
    private void attempt(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    private void create() {
        long sent = loop.now();
        api.createSession("distributed-permit " + member.name())
                .whenComplete((id, problem) -> attempt(() -> {
                    if (id == null) {
                        failed(problem);
                        return;
                    }
                    Session made = new Session(id, settings.prefix(), sent);
                    if (closed) {
                        api.destroySession(id);
                        return;
                    }
                    session = made;
                    fence(made, true);
                }));
    }

    /** Writes the fence; for a new session begins to renew and to watch. */
    private void fence(Session current, boolean isNew) {
        fences++;
        String value = Format.text(Map.of("member", member.id(), "name", member.name(), "nonce", fences));
        List<TxnOperation> ops = List.of(
                TxnOperation.lock(current.fenceKey(), current.id(), value), TxnOperation.getTree(current.fenceKey()));
        api.transactNow(ops)
                .whenComplete((outcome, problem) -> attempt(() -> fenced(current, isNew, outcome, problem)));
    }

    private void fenced(Session current, boolean isNew, @Nullable TxnOutcome outcome, @Nullable Throwable problem) {
        if (current.isOver()) {
            return;
        }
        if (outcome instanceof Done done) {
            current.fence(done.written().get(0).modified());
            fenced(current, isNew);
        } else if (outcome instanceof Refused refused && refused.isInvalidSession() && !isNew) {
            confirmLoss(current).thenAccept(lost -> {
                if (!lost && !current.isOver()) {
                    failed(refused(refused));
                }
            });
        } else if (outcome instanceof Refused refused) {
            failed(refused(refused));
        } else if (problem != null) {
            failed(problem);
        }
        if (isNew && !ready && session == current) {
            // no other part has seen the session: begin again with a new one
            current.end();
            session = null;
            api.destroySession(current.id());
        }
    }

    private void fenced(Session current, boolean isNew) {
        working = false;
        ready = true;
        failure = null;
        backoff.reset();
        if (isNew) {
            renewals.begin(current);
            new Inbox(api, loop, current, uses::notified, () -> lost(current)).watch();
        }
        List<CompletableFuture<Session>> told = List.copyOf(waiting);
        waiting.clear();
        told.forEach(future -> future.complete(current));
        if (isNew) {
            sessions++;
            announced = true;
            events.ready(new StoreSession(current.id(), sessions));
        }
    }

    private void failed(Throwable problem) {
        working = false;
        PermitStoreException known = asStoreException(problem);
        if (failure == null && !closed) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "No session with Consul at " + settings.address() + ": " + known.getMessage());
        }
        failure = known;
        List<CompletableFuture<Session>> told = List.copyOf(waiting);
        waiting.clear();
        told.forEach(future -> future.completeExceptionally(known));
        if (!announced) {
            events.unavailable(known);
        }
        if (!closed) {
            loop.later(this::work, backoff.next());
        }
    }

    static PermitStoreException refused(Refused refused) {
        if (refused.isDenied()) {
            return PermitStoreException.permanent(
                    "Consul denies a transaction: " + refused.shown()
                            + "; the policy of the ACL token needs key_prefix \"<prefix>\" write and session_prefix \"\" write",
                    null);
        }
        return PermitStoreException.passing("Consul refused a transaction: " + refused.shown(), null);
    }

    static PermitStoreException asStoreException(Throwable problem) {
        Throwable cause = ConsulApi.cause(problem);
        if (cause instanceof PermitStoreException known) {
            return known;
        }
        if (cause instanceof OutcomeUnknownException) {
            return PermitStoreException.passing(String.valueOf(cause.getMessage()), cause.getCause());
        }
        return PermitStoreException.passing("Consul failed: " + cause, cause);
    }

    /**
     * Asks for a consistent read whether the session and its fence exist, before a session is given up that may be
     * alive. Ends with {@code true} if it was lost, and never fails: what could not be asked is not confirmed. Those who
     * ask meanwhile share the answer.
     */
    CompletableFuture<Boolean> confirmLoss(Session suspect) {
        CompletableFuture<Boolean> known = confirmation;
        if (known != null) {
            return known;
        }
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        confirmation = result;
        List<TxnOperation> ops =
                List.of(TxnOperation.get(suspect.fenceKey()), TxnOperation.getTree(suspect.fenceKey()));
        api.readConsistently(ops).whenComplete((outcome, problem) -> {
            confirmation = null;
            boolean lost = suspect.isOver() || suspect.isMissingIn(outcome);
            if (lost) {
                lost(suspect);
            }
            result.complete(lost);
        });
        return result;
    }

    /** The session, or what it holds, is gone; also told by a transaction that met it. */
    void lost(Session current) {
        if (current.isOver()) {
            return;
        }
        LOG.log(
                System.Logger.Level.WARNING,
                "Consul session " + current.id() + " of " + member.name()
                        + " is lost, and with it every permit it held");
        current.end();
        session = null;
        announced = false;
        ready = false;
        working = false;
        uses.forget();
        events.lost();
        // only its keys may be gone; it must not live on without them
        end(current);
        work();
    }

    /** Ends the session; what still waits for one fails. */
    CompletableFuture<Boolean> close() {
        closed = true;
        ready = false;
        Session current = session;
        failed(PermitStoreException.permanent("Member " + member.name() + " has left Consul", null));
        if (current == null) {
            return CompletableFuture.completedFuture(true);
        }
        current.end();
        session = null;
        return end(current);
    }

    private CompletableFuture<Boolean> end(Session over) {
        List<CompletableFuture<Boolean>> all = over.all().stream()
                .map(id -> ends.enter(() -> api.destroySession(id)))
                .toList();
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).thenApply(done -> true);
    }
}
