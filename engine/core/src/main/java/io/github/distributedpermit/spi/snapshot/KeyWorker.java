package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.KeyRequest.ClaimRequest;
import io.github.distributedpermit.spi.snapshot.KeyRequest.Kind;
import io.github.distributedpermit.spi.snapshot.KeyRequest.Task;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Executes the requests of one member for one key, one at a time, and keeps the member's state of that key. Every
 * method except {@link #run} and {@link #key} is an event: it has to be called within {@link #run} and is thereby
 * confined to the worker's {@link Mailbox}. A {@link CommitAttempt} executes a request and reports its end here.
 *
 * <p>{@link SnapshotPermitStore} creates one for each key in use and passes requests and events of the store to it;
 * {@link IdleKeys} removes it. It keeps three invariants:
 *
 * <ul>
 *   <li>At most one attempt runs, so that the member never conflicts with itself.
 *   <li>The fields are updated from an answer before the answer is passed on, so that an error of a callback leaves them
 *       consistent.
 *   <li>A record that an earlier session may have left is removed, or replaced by a claim, before the key is released.
 * </ul>
 */
final class KeyWorker<S extends Snapshot> implements CommitAttempt.Outcome<S> {

    private final String key;
    /** What all keys of the member share. */
    private final LayerContext<S> context;
    /**
     * Runs every event of this worker; the other fields are confined to it, except for {@link #key} and {@link
     * #context}.
     */
    private final Mailbox mailbox = new Mailbox();
    /** Requests that wait for the end of the running attempt, or for a session. */
    private final RequestQueue queue = new RequestQueue();

    private final ArrivalOrder order;
    private final LatestVersion latest = new LatestVersion();
    private final UnknownOutcome unknown = new UnknownOutcome();
    private final SnapshotCache<S> cache;
    /** The attempt under way, {@code null} if there is none. What any other attempt reports is ignored. */
    private @Nullable CommitAttempt<S> running;
    /**
     * A notification of a store that records no sequences; {@code null} if there is none. It is passed on when the running
     * attempt has ended.
     */
    private @Nullable Holding notice;
    /**
     * Another member has changed the key since the running attempt began. The snapshot in which the attempt ends may lack
     * that change, so it is not kept for the next claim.
     */
    private boolean outdated;
    /** The store may have a record of the member in the present session. */
    private boolean recorded;
    /** The store may have a record of the member from an earlier session. The core does not use it, so it has to be removed. */
    private boolean removalDue;
    /** The store is releasing the key; nothing is sent meanwhile. */
    private boolean releasing;
    /** When the release began, on the monotonic clock. */
    private long releasingSince;
    /** The store has not ended a release, so that a late answer cannot be told from that to another one: there is no other. */
    private boolean releaseLost;
    /** The scheduler has a task that starts what waits in the queue. */
    private boolean pumpsSoon;

    private boolean closing;
    /** Takes no further request; the key gets another worker if it is used again. */
    private boolean retired;
    /** When a request began or ended last, on the monotonic clock. */
    private long lastUsed;

    /**
     * The most permits that the next claim leaves to the member. An attempt may fail after it was granted more than the limit and
     * before it has returned the surplus (see {@link Commit.Part}). The core does not count that grant, and a repetition of the
     * claim would keep it.
     */
    private int atMost = Integer.MAX_VALUE;

    /**
     * The epoch of the store in which the core still has to claim what it holds; 0 if there is nothing to reclaim. Set by any
     * thread, cleared in the mailbox.
     */
    private volatile long reclaiming;

    KeyWorker(String key, LayerContext<S> context) {
        this.key = key;
        this.context = context;
        this.cache = new SnapshotCache<>(context.store(), key);
        this.lastUsed = context.now();
        this.order = new ArrivalOrder(lastUsed);
    }

    String key() {
        return key;
    }

    /** Runs an event. May be called by any thread. */
    void run(Runnable event) {
        mailbox.execute(event);
    }

    /** The store may have lost state. Called by any thread; {@link #moved} follows. */
    void reclaim(long epoch) {
        reclaiming = epoch;
    }

    /** Called by any thread. */
    boolean isReclaiming() {
        return reclaiming != 0;
    }

    /** What an attempt that is under way commits in the earlier epoch has to be reclaimed as well. */
    void moved() {
        cache.forget();
        if (running == null && !latest.holdsPermits()) {
            reclaiming = 0;
        }
    }

    /** The permits were not reclaimed in time. */
    void giveUp() {
        if (reclaiming != 0) {
            reclaiming = 0;
            reduced(0);
        }
    }

    /**
     * Whether the core has reclaimed what it held, if it has to. It has if the answered claim states the present epoch, so that the
     * store has given back what the core holds, or if it holds nothing.
     */
    private boolean isReclaimed(Claim claim, Holding holding) {
        if (holding.epoch() == reclaiming
                && (claim.reclaim().knownEpoch() == reclaiming
                        || claim.reclaim().validlyHeld() == 0)) {
            reclaiming = 0;
        }
        return reclaiming == 0;
    }

    /** Adds a request; {@code false} if this worker is retired, so that the key needs a new one. */
    boolean add(KeyRequest request) {
        if (retired) {
            return false;
        }
        queue.add(request);
        if (mayWaitForNext()) {
            pumpSoon();
        } else {
            pump();
        }
        return true;
    }

    /**
     * Whether the queue has nothing but a return that no other member is known to wait for. A thread that calls in a loop claims
     * again at once. If the return is still in the queue then, both are merged into one claim, which as a rule changes nothing and
     * costs a read instead of two commits.
     */
    private boolean mayWaitForNext() {
        Claim claim = queue.onlyClaim();
        StoreSession session = context.session();
        S known = cache.last();
        // Without a known record the claim cannot be recognised as a return. A running attempt starts the next
        // request itself.
        if (claim == null || session == null || known == null || running != null || latest.isContended()) {
            return false;
        }
        // A claim with waiting calls is urgent even if it also returns permits.
        boolean noCallWaits = claim.head().weight() == 0;
        return noCallWaits
                && claim.counts().wanted()
                        < known.record(session.member())
                                .map(PermitRecord::permits)
                                .orElse(0);
    }

    /** Starts the next request on the thread of the scheduler, as soon as that is free, unless an event starts it before. */
    private void pumpSoon() {
        if (pumpsSoon) {
            return;
        }
        try {
            // The scheduler's thread adds its event behind this one, so that the flag below is set before that event
            // reads it.
            context.scheduler().execute(() -> run(this::pumpNow));
            pumpsSoon = true;
        } catch (RejectedExecutionException closed) {
            // The member is leaving, and no later event is certain to start the return.
            pump();
        }
    }

    private void pumpNow() {
        pumpsSoon = false;
        pumpQueued();
    }

    /** Unlike {@link #pump}, does not start the removal of an old record and does not report the key as rested. */
    private void pumpQueued() {
        if (!queue.isEmpty()) {
            pump();
        }
    }

    /** Starts the next request, unless an attempt is running, the key is being released or there is no session. */
    private void pump() {
        // Also without a session: requests whose callers have given up must not fill the queue of a store that is
        // away.
        queue.dropAbandoned();
        StoreSession session = context.session();
        if (running != null || releasing || session == null) {
            return;
        }
        KeyRequest next = queue.poll();
        // The store may use the pause to delete what an earlier session has left.
        if (next == null && !removalDue) {
            context.store().rested(key, cache.last());
            return;
        }
        if (next == null) {
            // A record of an earlier session is removed as soon as nothing else is to do; a claim would have replaced
            // it.
            next = Task.of(Kind.REMOVAL);
        }
        lastUsed = context.now();
        // A claim below a sent or answered sequence must change nothing (law 4 of PermitStore). The store does not see
        // to that if it records no sequences.
        Claim claim = next.claim();
        boolean delayed = claim != null && (claim.sequence() <= latest.answered() || claim.sequence() < queue.sent());
        running = new CommitAttempt<>(
                key, next, session, context, mailbox, cache, order, latest, this, delayed, unknown.isNone(), atMost);
        running.begin();
    }

    /**
     * Runs in the mailbox, at the end of an attempt. Its order matters: first the state, then the answer, then the
     * next request.
     */
    @Override
    public void answered(CommitAttempt<S> attempt, S at, @Nullable Holding holding) {
        if (running != attempt) {
            return;
        }
        long now = context.now();
        String member = attempt.session().member();
        if (outdated) {
            outdated = false;
            cache.forget();
        } else {
            cache.learn(at);
        }
        // From the snapshot and not from the claim, because the attempt may have served or removed the member
        // otherwise.
        recorded = at.record(member).isPresent();
        boolean removes = attempt.request() instanceof Task task && task.kind() == Kind.REMOVAL;
        if (removes || (holding != null && !attempt.isDelayed())) {
            removalDue = false; // the answered claim has replaced the record that was to be removed
            atMost = Integer.MAX_VALUE;
            unknown.answered(attempt.isCertain());
        }
        Runnable answer = answer(attempt, at, holding, now);
        lastUsed = now;
        // The attempt ends here, so that no error below repeats the request. Mailbox.run() catches what a callback
        // throws: it must stop neither the notification nor the next request.
        running = null;
        Mailbox.run(answer);
        Mailbox.run(this::passOnNotice);
        Claim claim = attempt.request().claim();
        if (holding != null && claim != null && !attempt.isDelayed() && !isReclaimed(claim, holding)) {
            Mailbox.run(() -> context.listener().changed(key)); // the core claims again
        }
        pump();
    }

    /**
     * Updates the fields from the answer, and returns the task that ends the request.
     *
     * @return to be run when the attempt has ended, because it may run code of the core that sends the next claim
     */
    private Runnable answer(CommitAttempt<S> attempt, S at, @Nullable Holding holding, long now) {
        if (holding != null && attempt.request() instanceof ClaimRequest request) {
            Claim claim = request.claim();
            order.took(attempt.age(now), now);
            if (request.isForWaiters() && !attempt.isDelayed()) {
                order.recorded(request.arrival(), now, attempt.position());
            } else if (!attempt.isDelayed()) {
                order.passed(request.arrival(), now, attempt.position());
            }
            // The sequence that the store has recorded. It is lower than that of the claim if the claim was answered
            // without a write.
            long sequence =
                    at.record(attempt.session().member()).map(r -> r.sequence()).orElse(holding.sequence());
            Holding answer = latest.answered(holding, sequence);
            // A claim that turn() has repeated has no caller. What it was granted is reported as a notification,
            // because otherwise the core would not use it.
            boolean unasked = request.answers().isEmpty() && answer.permits() > 0;
            return unasked ? () -> context.listener().granted(key, answer) : () -> request.complete(answer);
        }
        return attempt.request() instanceof Task done ? done::complete : () -> {};
    }

    /**
     * Runs in the mailbox, at the end of an attempt. The cached snapshot is dropped, because the change may have been
     * made.
     */
    @Override
    public void failed(CommitAttempt<S> attempt, PermitStoreException failure, boolean mayHaveWritten) {
        if (running != attempt) {
            return;
        }
        boolean sameSession = attempt.session().equals(context.session());
        recorded = recorded || mayHaveWritten;
        // What was written in a session that has ended has to be removed. A worker that is closing does so anyway.
        removalDue = !closing && (removalDue || !sameSession);
        // The limit of an attempt that was stopped between the grant and the return of the surplus stays in force for
        // the next one.
        atMost = Math.min(atMost, attempt.held());
        if (mayHaveWritten) {
            boolean repeats = sameSession && !failure.isPermanent();
            unknown.failed(repeats && attempt.request() instanceof ClaimRequest claim ? claim : null);
        }
        cache.forget();
        outdated = false;
        lastUsed = context.now();
        running = null;
        attempt.request().fail(failure);
        Mailbox.run(this::passOnNotice);
        pumpQueued(); // not pump(): a REMOVAL of the layer that has failed is repeated by the next turn(), not at once
    }

    /**
     * Another member has served this one.
     *
     * @param holding as the other member has written it; without a sequence if the store records none
     */
    void served(Holding holding) {
        cache.othersHaveWritten();
        // the core orders notifications with a sequence by itself, so that they need not wait for the running attempt
        if (holding.sequence() != LatestVersion.NO_SEQUENCE) {
            context.listener().granted(key, latest.notified(holding));
            return;
        }
        cache.forget();
        // A later notice states all that the member has, so that only the last one is kept.
        notice = holding;
        if (running == null) {
            passOnNotice();
        }
    }

    /**
     * A notification without a sequence was held back, because the answer of the running attempt may be newer: then its version is
     * not above the latest one, and it is dropped.
     */
    private void passOnNotice() {
        Holding holding = notice;
        notice = null;
        if (holding != null && holding.version() > latest.version()) {
            cache.forget();
            recorded = true;
            atMost = Integer.MAX_VALUE;
            context.listener().granted(key, latest.notified(holding));
        }
    }

    /**
     * The key has changed, and no notification contains the change. The core claims again if it has waiting calls or
     * permits of this key, and its next claim reads the key.
     */
    void changed() {
        cache.othersHaveWritten();
        // An error of the core must not keep the queued return from being sent.
        Mailbox.run(() -> context.listener().changed(key));
        pumpQueued(); // another member may wait for a return that is in the queue
    }

    /** A change of another member would make a commit on the cached snapshot fail. */
    void outdated() {
        cache.forget();
        // The running attempt may end in a snapshot from before this change; see the field.
        outdated = running != null;
        pumpQueued(); // another member may wait for a return that is in the queue
    }

    /**
     * Another client than this library has deleted permits of this member.
     *
     * @param left how many permits the store still has recorded for the member
     */
    void reduced(int left) {
        cache.forget();
        Holding holding = latest.reduced(left);
        if (holding != null) {
            Mailbox.run(() -> context.listener().granted(key, holding));
            context.listener().changed(key); // also if the core could not take in the loss
        }
    }

    /**
     * There is no session at present: all queued requests fail. A running attempt goes on. It fails when its next result
     * arrives, if its session is not in use any more.
     */
    void unavailable(PermitStoreException reason) {
        queue.drop().forEach(request -> request.fail(reason));
    }

    /**
     * The session has ended: all queued requests fail, and its records no longer count. Runs before the core receives
     * the loss, so that a claim that the core sends because of it is behind this event. The running attempt is not
     * ended here: its result does not count, because the session has changed.
     */
    void sessionLost() {
        queue.drop().forEach(request -> request.fail(CommitAttempt.sessionLost()));
        unknown.sessionLost();
        reclaiming = 0;
        // With a running attempt it is unknown whether a record was written. Where sessions have ids of their own,
        // ready() cancels this again.
        removalDue = removalDue || recorded || running != null;
        recorded = false;
        atMost = Integer.MAX_VALUE;
        notice = null;
        cache.forget();
    }

    /**
     * A session exists, so that requests can be executed. If the next session has another member name, the store
     * drops the old record itself, and versions and positions of the old session must not be compared with new ones.
     *
     * @param sameMember whether the store may still have records of the session before under the member's name
     * @return whether the worker is retired, so that it has to be removed
     */
    boolean ready(boolean sameMember) {
        if (!sameMember) {
            removalDue = false;
            order.clear();
            latest.forget();
            // A worker without work is removed instead of being kept for a key that may never be used again.
            retired = retired || (running == null && queue.isEmpty());
        }
        if (!retired) {
            pump();
        }
        return retired;
    }

    /**
     * Runs periodically, at least once a second: repeats a claim of unknown outcome if the core has sent no other claim since,
     * and the removal of an old record after a failure. Fails an attempt that nothing else will end, because the requests
     * behind it would wait for ever, and the store would keep what is recorded for the member.
     */
    void turn() {
        long now = context.now();
        CommitAttempt<S> stuck = running;
        if (stuck != null && stuck.isStuck(now)) {
            failed(stuck, PermitStoreException.passing("The store has not completed a request", null), true);
        }
        if (releasing && CommitAttempt.isTooLong(now - releasingSince, context)) {
            // An error may have swallowed the answer. The requests that wait for it go on, and the worker is kept.
            releasing = false;
            releaseLost = true;
        }
        ClaimRequest claim = unknown.due(now, lastUsed);
        if (claim != null && running == null && queue.isEmpty() && context.session() != null) {
            // The claim is absolute, so that it changes nothing if it was executed. Any later claim of the core
            // replaces it.
            queue.add(claim);
        }
        if (!retired) {
            pump();
        }
    }

    /**
     * Begins the release of the key if the member has neither held nor waited for some time: the store then deletes what it
     * still has of the member. Requests that arrive meanwhile wait until {@link #released}.
     *
     * @param idle how long, in nanoseconds
     * @return whether the release has begun
     */
    boolean beginRelease(long idle) {
        // Nothing is under way, so that no answer can record something for the member after the release has begun.
        boolean atRest = running == null && queue.isEmpty() && !releasing && !retired;
        // The store has no record of the member, and no claim of unknown outcome is left that could create one.
        boolean clean = unknown.isSettled() && !removalDue && !recorded;
        if (!atRest || !clean || releaseLost || context.now() - lastUsed < idle) {
            return false;
        }
        releasing = true;
        releasingSince = context.now();
        return true;
    }

    /**
     * The store has cleaned up the key, or failed to. Returns whether the worker is retired and has to be removed.
     *
     * @param clean whether the store needs the key no more
     */
    boolean released(boolean clean) {
        boolean awaited = releasing;
        releasing = false;
        if (clean && awaited) { // otherwise claims may have been made since
            cache.forget();
            // Requests that arrived during the release are executed by this worker, which is then kept.
            retired = retired || queue.isEmpty();
        }
        if (!retired) {
            pump();
        }
        return retired;
    }

    /**
     * The store has been closed: what is under way fails here, because a closed store may never end its stages.
     */
    void abandon(PermitStoreException reason) {
        CommitAttempt<S> left = running;
        running = null;
        retired = true;
        if (left != null) {
            left.request().fail(reason);
        }
        queue.drop().forEach(request -> request.fail(reason));
    }

    /**
     * The member leaves: queued requests fail, and its permits are returned. The {@code REMOVAL} waits for the running
     * attempt, whose result decides what there is to return.
     *
     * @param done ends when the permits are returned, or cannot be
     */
    void close(PermitStoreException reason, CompletableFuture<Void> done) {
        queue.drop().forEach(request -> request.fail(reason));
        retired = true;
        closing = true;
        if (running != null) {
            running.stop();
        }
        // Without a session nothing can be returned; the records end with it. Without a record there is nothing to
        // return.
        if (context.session() == null || (running == null && !recorded && !removalDue)) {
            done.complete(null);
            return;
        }
        removalDue = false;
        releasing = false;
        queue.add(new Task(Kind.REMOVAL, OverrideLimit.empty(), done));
        pump();
    }
}
