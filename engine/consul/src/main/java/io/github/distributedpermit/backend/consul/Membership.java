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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the member alive in Consul: creates its session, writes its fence, renews it, detects its end and creates the next.
 * All other parts of the backend get the session here.
 *
 * <p>The session passes through these states, in which {@code working} means that a request of this class is under way:
 *
 * <pre>
 *   none --create--> created --fence--> ready --outcome unknown--> created --fence--> ready
 *     ^                                   |
 *     +---------- lost (or closed) -------+
 * </pre>
 *
 * <p>Changes are committed in the state <em>ready</em> only. A request that fails is repeated with the pauses of a {@link
 * Backoff}; the callers that wait for the session fail with its reason, because the core repeats claims by itself. Confined to
 * the event loop.
 *
 * <p>{@link Renewals} and {@link Inbox} are begun here for each session. The invariant is that a session which was reported as
 * lost is never used again, even if it turns out to live: what the core gave up must not be recorded for it any longer.
 */
final class Membership {

    private static final System.Logger LOG = System.getLogger(Membership.class.getName());
    /** Requests that end sessions and are under way at a time. */
    private static final int ENDS_AT_A_TIME = 4;

    private final ConsulApi api;
    private final EventLoop loop;
    private final ConsulSettings settings;
    private final Member member;
    private final StoreEvents events;
    private final KeyUses uses;
    /** In nanoseconds: 100 ms, doubling to 2 s. */
    private final Backoff backoff = new Backoff(TimeUnit.MILLISECONDS.toNanos(100), TimeUnit.SECONDS.toNanos(2));
    /** One for all sessions; each round belongs to one of them. */
    private final Renewals renewals;

    private final RequestLimiter ends = new RequestLimiter(ENDS_AT_A_TIME);
    /** Callers that get the session when it is ready, or the failure of the next request for it. */
    private final List<CompletableFuture<Session>> waiting = new ArrayList<>();

    /** The present session, from its creation on; {@code null} before and after. */
    private @Nullable Session session;
    /** Why the last request for a session or a fence failed; {@code null} since one was successful. */
    private @Nullable PermitStoreException failure;
    /** The layer has received the session. Before that its claims wait, and fail if no session can be created. */
    private boolean announced;

    /** The fence was written after the last transaction of unknown outcome, so that changes may be committed. */
    private boolean ready;
    /** A request for a session or a fence is under way. */
    private boolean working;

    /** The member has left; no session is created from then on. */
    private boolean closed;
    /** Counts the writes of fences, so that each one has another value and Consul changes its index. */
    private long fences;
    /** Counts sessions; the layer tells claims of an earlier session by this number. */
    private long sessions;
    /** The consistent read that confirms a loss, while it is under way; all callers that suspect its session share it. */
    private @Nullable Confirmation confirmation;

    /** @param result ends with {@code true} if the session was lost */
    private record Confirmation(Session suspect, CompletableFuture<Boolean> result) {}

    Membership(
            ConsulApi api, EventLoop loop, ConsulSettings settings, Member member, StoreEvents events, KeyUses uses) {
        this.api = api;
        this.loop = loop;
        this.settings = settings;
        this.member = member;
        this.events = events;
        this.uses = uses;
        this.renewals = new Renewals(api, loop, settings, events, this::confirmLoss);
    }

    /**
     * The session, once it can be relied on; fails at once while there is none to be had. After a failure callers fail at
     * once with its reason, because the core repeats its claims with pauses of its own.
     */
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

    /**
     * The session as it is now, ready or not. For checks and the ends of requests, which must not wait for a session.
     */
    @Nullable
    Session current() {
        return session;
    }

    /**
     * The outcome of a transaction is unknown. No new transaction starts until the rewritten fence guarantees that the old
     * one can no longer commit.
     *
     * @param session in which the transaction was sent; one of an earlier session can no longer commit
     */
    void outcomeUnknown(Session session) {
        if (session == this.session && !session.isOver()) {
            ready = false;
            work();
        }
    }

    /** Starts the request that is missing to be ready: a session, or its fence. Does nothing while one is under way. */
    void work() {
        if (working || ready || closed) {
            return;
        }
        // Before the request, because its answer may arrive at once and begin the next one.
        working = true;
        Session current = session;
        attempt(() -> {
            if (current == null) {
                create();
            } else {
                fence(current);
            }
        });
    }

    /**
     * Runs a step. If it throws, also an {@link Error}, waiting callers fail and the step is repeated, as after any other
     * failure.
     */
    private void attempt(Runnable step) {
        EventLoop.run(step, this::failed);
    }

    /**
     * The time of sending counts as the first confirmation: Consul may have created the session at once. A session
     * that is created after the member has left is ended at once.
     */
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
                    fence(made);
                }));
    }

    /**
     * Writes the fence; for a session that was not announced yet begins to renew and to watch. Sent ahead of all
     * queued requests, because these wait for it.
     */
    private void fence(Session current) {
        fences++;
        String value = Format.text(Map.of("member", member.id(), "name", member.name(), "nonce", fences));
        List<TxnOperation> ops = List.of(
                TxnOperation.lock(current.fenceKey(), current.id(), value), TxnOperation.getTree(current.fenceKey()));
        api.transactNow(ops).whenComplete((outcome, problem) -> attempt(() -> fenced(current, outcome, problem)));
    }

    /**
     * The write of the fence has ended. A refusal that names the session has to be confirmed before it counts as a
     * loss. An answer for a session that is over is ignored: another request has been started for the next one.
     */
    private void fenced(Session current, @Nullable TxnOutcome outcome, @Nullable Throwable problem) {
        if (current.isOver()) {
            return;
        }
        // Also if an error has kept an earlier attempt from announcing it.
        boolean isNew = !announced;
        if (outcome instanceof Done done) {
            current.fence(done.written().get(0).modified());
            fenced(current, isNew);
        } else if (outcome instanceof Refused refused && refused.isInvalidSession() && !isNew) {
            // A confirmed loss has started the next session already.
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
            // Whether the fence was written is unknown, and no other part has used the session: a new one is simpler.
            current.end();
            session = null;
            api.destroySession(current.id());
        }
    }

    /**
     * The fence is written. The layer receives a new session only now, after the callers that already wait for it.
     * From here on each change of the member compares the index of this write. Each part runs whatever becomes of the
     * others: without one of them the session would live on, and be of no use.
     */
    private void fenced(Session current, boolean isNew) {
        working = false;
        ready = true;
        failure = null;
        backoff.reset();
        if (isNew) {
            EventLoop.run(() -> renewals.begin(current));
            // Begun after the fence was written: without a key in the inbox the query would return after every write
            // to Consul.
            EventLoop.run(() ->
                    new Inbox(api, loop, current, uses::notified, uses::unread, () -> confirmLoss(current)).watch());
        }
        List<CompletableFuture<Session>> callers = List.copyOf(waiting);
        waiting.clear();
        callers.forEach(future -> EventLoop.run(() -> future.complete(current)));
        if (isNew) {
            sessions++;
            announced = true;
            EventLoop.run(() -> events.ready(new StoreSession(current.id(), sessions)));
        }
    }

    /**
     * A request has failed and is repeated after a pause. The log has the first failure of a row only. The layer is
     * notified only while it has no session: in a session that it has, claims wait for the fence and fail one by one.
     */
    private void failed(Throwable problem) {
        working = false;
        // First, because nothing else would repeat it: until then callers fail at once.
        if (!closed) {
            EventLoop.run(() -> loop.later(this::work, backoff.next()));
        }
        PermitStoreException known = asStoreException(problem);
        boolean isFirst = failure == null;
        failure = known;
        if (isFirst && !closed) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "No session with Consul at " + settings.address() + ": " + known.getMessage());
        }
        List<CompletableFuture<Session>> callers = List.copyOf(waiting);
        waiting.clear();
        callers.forEach(future -> EventLoop.run(() -> future.completeExceptionally(known)));
        if (!announced) {
            EventLoop.run(() -> events.unavailable(known));
        }
    }

    /** A missing right is permanent until an operator acts; any other refusal may be gone at the next attempt. */
    static PermitStoreException refused(Refused refused) {
        if (refused.isDenied()) {
            return PermitStoreException.permanent(
                    "Consul denies a transaction: " + refused.shown()
                            + "; the policy of the ACL token needs key_prefix \"<prefix>\" write and session_prefix \"\" write",
                    null);
        }
        return PermitStoreException.passing("Consul refused a transaction: " + refused.shown(), null);
    }

    /**
     * An unknown outcome becomes a passing failure here; callers that have to distinguish it look at the cause first.
     */
    static PermitStoreException asStoreException(Throwable problem) {
        Throwable cause = PermitStoreException.causeOf(problem);
        if (cause instanceof PermitStoreException known) {
            return known;
        }
        if (cause instanceof OutcomeUnknownException) {
            return PermitStoreException.passing(String.valueOf(cause.getMessage()), cause.getCause());
        }
        return PermitStoreException.passing("Consul failed: " + cause, cause);
    }

    /**
     * Asks for a consistent read whether the session, its fence and its additional sessions exist, before a session is given
     * up that may be alive. Ends with {@code true} if one was lost, and never fails: what could not be asked is not
     * confirmed. Callers that suspect the same session meanwhile share the answer.
     *
     * @param suspect a session that a reply seemed to lack
     */
    CompletableFuture<Boolean> confirmLoss(Session suspect) {
        Confirmation known = confirmation;
        // The result for an earlier session says nothing of this one.
        if (known != null && known.suspect() == suspect) {
            return known.result();
        }
        Confirmation next = new Confirmation(suspect, new CompletableFuture<>());
        confirmation = next;
        Set<String> additional = suspect.additional();
        List<TxnOperation> ops = List.of(TxnOperation.get(suspect.fenceKey()), TxnOperation.getTree(suspect.proofs()));
        EventLoop.run(
                () -> api.confirm(ops)
                        .whenComplete((outcome, problem) -> EventLoop.run(
                                () -> confirmed(next, suspect.isMissingIn(outcome, additional)),
                                e -> confirmed(next, false))),
                e -> confirmed(next, false));
        return next.result();
    }

    /** @param missing whether the read has shown that the session or its fence does not exist */
    private void confirmed(Confirmation ended, boolean missing) {
        // Before the result, so that a caller which asks again gets a new read.
        if (confirmation == ended) {
            confirmation = null;
        }
        boolean lost = missing || ended.suspect().isOver();
        if (lost) {
            EventLoop.run(() -> lost(ended.suspect()));
        }
        ended.result().complete(lost);
    }

    /**
     * The session, or one of the keys that it must have, does not exist any more, as a consistent read has confirmed after the
     * blocking query, a renewal or a transaction seemed to show it.
     */
    private void lost(Session current) {
        if (current.isOver()) {
            return;
        }
        current.end();
        session = null;
        announced = false;
        ready = false;
        working = false;
        // Everything that is remembered was recorded by the lost session.
        uses.forget();
        LOG.log(
                System.Logger.Level.WARNING,
                "Consul session " + current.id() + " of " + member.name()
                        + " is lost, and with it every permit it held");
        EventLoop.run(events::lost);
        // If only its keys were deleted, the session would keep permits recorded that this member gives up here.
        EventLoop.run(() -> end(current));
        work();
    }

    /**
     * Ends the session; what still waits for one fails.
     *
     * @return ends when Consul has answered the requests that end the sessions
     */
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

    /**
     * Destroys all sessions of the member, a few at a time; one that remains expires by itself. With the first
     * session its inbox and all that it has locked are deleted, and with each additional one its permit.
     */
    private CompletableFuture<Boolean> end(Session over) {
        List<CompletableFuture<Boolean>> all = over.all().stream()
                .map(id -> ends.enter(() -> api.destroySession(id)))
                .toList();
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).thenApply(done -> true);
    }
}
