package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.KeyRequest.ClaimRequest;
import io.github.distributedpermit.spi.snapshot.KeyRequest.Kind;
import io.github.distributedpermit.spi.snapshot.KeyRequest.Task;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.Step;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Executes one request of a key: computes the change on the cached snapshot or on a new one, commits it by
 * check-and-set, and repeats both after a conflict with another member. It ends with exactly one call of its
 * {@link Outcome}. Confined to the mailbox of its worker.
 *
 * <p>{@link KeyWorker} creates it and has at most one running. It calls {@link SnapshotStore#read} and {@link
 * SnapshotStore#commit}, one at a time; the thread that ends their stage brings the result to the mailbox. After its end it
 * may still report a failure. The worker ignores that, because the attempt is not the running one any more.
 */
final class CommitAttempt<S extends Snapshot> {

    /** Receives the end of the attempt. */
    interface Outcome<S extends Snapshot> {

        /**
         * The request has taken effect, or had nothing to change.
         *
         * @param at the key after the request
         * @param holding the answer to a claim, with its sequence; {@code null} for other requests
         */
        void answered(CommitAttempt<S> attempt, S at, @Nullable Holding holding);

        /**
         * Ends the request with a failure; nothing is repeated by the attempt.
         *
         * @param mayHaveWritten whether the request may have taken effect all the same
         */
        void failed(CommitAttempt<S> attempt, PermitStoreException failure, boolean mayHaveWritten);
    }

    /**
     * An attempt that has a conflict this long after its beginning fails, and the core repeats the claim. So it ends even if
     * other members change the key all the time.
     */
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);

    /**
     * An attempt that takes this long, and longer than a session lasts, has lost the completion of a read or a commit, by an
     * {@code OutOfMemoryError} in a callback for example: every store ends its requests earlier, by a time-out or with the
     * session.
     */
    private static final long MOST = TimeUnit.SECONDS.toNanos(60);

    private final String key;
    private final KeyRequest request;
    /**
     * The session in which the attempt began. If another one is in use when a result arrives, the result does not
     * count.
     */
    private final StoreSession session;

    private final LayerContext<S> context;
    /** Each continuation runs here, so that the attempt has the same thread rules as its worker. */
    private final Executor mailbox;

    private final SnapshotCache<S> cache;
    private final ArrivalOrder order;
    private final LatestVersion latest;
    private final Outcome<S> outcome;
    /**
     * Whether a claim with a higher sequence was sent before this one, or this one was answered before. Such a claim changes
     * nothing, and is answered with what the store has.
     */
    private final boolean delayed;
    /** Whether the outcome of each earlier claim is known, so that none of them can still change what is read here. */
    private final boolean certain;

    private final ConflictPause pause = new ConflictPause();
    /** On the monotonic clock, in nanoseconds. */
    private final long begun;
    /** The most permits that the change may leave to the member; lowered by what a {@link Commit} says. */
    private int held;

    /**
     * What remains is only to serve the queue, because the request is committed, is a {@link Kind#CHECK} or is a {@link #delayed}
     * claim.
     */
    private boolean settling;

    /** At least one commit was made. */
    private boolean written;

    /** The member leaves, so that nothing is read any more. */
    private boolean stopped;
    /** The position in the queue of a waiter that arrives now, as of the last computed step. */
    private long position;

    CommitAttempt(
            String key,
            KeyRequest request,
            StoreSession session,
            LayerContext<S> context,
            Executor mailbox,
            SnapshotCache<S> cache,
            ArrivalOrder order,
            LatestVersion latest,
            Outcome<S> outcome,
            boolean delayed,
            boolean certain,
            int held) {
        this.key = key;
        this.request = request;
        this.session = session;
        this.context = context;
        this.mailbox = mailbox;
        this.cache = cache;
        this.order = order;
        this.latest = latest;
        this.outcome = outcome;
        this.delayed = delayed;
        this.certain = certain;
        this.held = held;
        this.begun = context.now();
        this.settling = request instanceof Task task ? task.kind() == Kind.CHECK : delayed;
    }

    KeyRequest request() {
        return request;
    }

    StoreSession session() {
        return session;
    }

    /**
     * The most permits that the claim leaves to the member. The worker applies it to the next claim as well, because a
     * failed attempt may have left permits recorded that the core was not granted.
     */
    int held() {
        return held;
    }

    boolean isDelayed() {
        return delayed;
    }

    /**
     * Whether no commit of an earlier claim can take effect any more. A commit of this attempt makes sure of that, see
     * {@link Commit.OutcomeUnknown}.
     */
    boolean isCertain() {
        return certain || written;
    }

    long position() {
        return position;
    }

    /** How long it has taken, in nanoseconds. */
    long age(long now) {
        return now - begun;
    }

    /**
     * Makes the attempt fail instead of reading again. A read or commit that has been sent is completed. Called when
     * the member leaves: the {@code REMOVAL} that waits behind this attempt must not wait for a pause and another read.
     */
    void stop() {
        stopped = true;
    }

    /** Whether nothing will end this attempt any more. */
    boolean isStuck(long now) {
        return isTooLong(age(now), context);
    }

    /** Whether the store will not end a request any more that has been under way for so many nanoseconds. */
    static boolean isTooLong(long nanos, LayerContext<?> context) {
        return nanos
                > Math.max(MOST, TimeUnit.NANOSECONDS.convert(context.store().session()));
    }

    /** Tries the cached snapshot first: without contention a claim then costs one commit and no read. */
    void begin() {
        guarded(() -> {
            S guess = cache.guess();
            if (guess == null || !commitsUnread(guess)) {
                read();
            }
        });
    }

    /**
     * Commits on the cached snapshot, which may be out of date, if the claim gets all that it wants there. A claim that gets
     * less, or that is answered without a write, needs a new snapshot. {@code false} if nothing was sent.
     */
    private boolean commitsUnread(S guess) {
        Claim claim = request.claim();
        if (claim == null || settling) {
            return false;
        }
        // If the guess is out of date the commit conflicts, and the change is computed again, with the position in the
        // queue.
        PlannedCommit<S> planned = plan(guess, false);
        // A claim that gets less than it wants must not be answered from a snapshot that may lack a permit which was
        // returned since.
        boolean plain = planned.step().answer().orElseThrow().permits()
                >= claim.counts().wanted();
        boolean tries = plain
                && !planned.isUnchanged()
                && !planned.isRepetition()
                && context.store().mayCommitUnread(planned, cache.isAlone());
        if (tries) {
            commit(planned);
        }
        return tries;
    }

    /** Reads the key, then commits the change that follows from it, or answers if there is none. */
    private void read() {
        if (stopped) {
            fail(PermitStoreException.passing("The member has left the store", null), written);
            return;
        }
        // A read changes nothing: if it fails, the request was written only by an earlier commit of this attempt.
        then(context.store().read(key), written, snapshot -> {
            cache.read(snapshot);
            propose(snapshot);
        });
    }

    /**
     * Commits what the request makes of a snapshot that is up to date. A claim that changes nothing, or only repeats its record, is
     * answered without a write, but not while the outcome of an earlier claim is unknown: that one could still change the record.
     */
    private void propose(S at) {
        PlannedCommit<S> planned = plan(at, true);
        boolean isOrdered = request.claim() == null || settling || isCertain();
        boolean nothingToDo = (isDone(planned) && isOrdered)
                || (certain
                        && request.claim() != null
                        && planned.isRepetition()
                        && context.store().mayStayUnwritten(planned));
        if (nothingToDo) {
            answer(at, planned);
        } else {
            commit(planned);
        }
    }

    private boolean isDone(PlannedCommit<S> planned) {
        return planned.isUnchanged() && !context.store().hasOrphans(planned);
    }

    /**
     * Computes the step. While the attempt is {@link #settling}, the step only serves the queue.
     *
     * @param fresh as in {@link PlannedCommit#fresh}
     */
    private PlannedCommit<S> plan(S at, boolean fresh) {
        KeyTable table = at.table();
        // Taken before the step, which may replace it in the same table.
        OverrideLimit limit = table.override();
        long now = at.version();
        // Above every version of the snapshot, so that a waiter that arrives now is placed behind all recorded ones.
        position = now + 1;
        Step step;
        Optional<Claim> claim = Optional.empty();
        if (settling) {
            step = table.refresh(now);
        } else if (request instanceof ClaimRequest asked) {
            // If an earlier commit granted more than may stay, the claim returns the surplus before it is computed
            // again.
            Claim reduced = asked.claim().keepingAtMost(held);
            claim = Optional.of(reduced);
            if (fresh && asked.isForWaiters()) {
                order.received(context.now(), position);
            }
            long earliest = order.since(asked.arrival(), position);
            long latest = order.endOfMoment(asked.arrival(), context.now(), position);
            long since = table.position(session.member(), earliest, latest);
            step = table.claim(session.member(), reduced, now, since);
        } else {
            Task task = (Task) request;
            step = switch (task.kind()) {
                case OVERRIDE -> table.override(task.limit(), now);
                case LIFT -> table.lift(task.limit(), now);
                default -> table.remove(session.member(), now);
            };
        }
        boolean changesOverride = !table.override().equals(limit);
        return new PlannedCommit<>(key, session, at, table, step, changesOverride, claim, fresh);
    }

    /** Sends the change and continues as its outcome demands; see {@link Commit}. */
    private void commit(PlannedCommit<S> planned) {
        // The store would refuse the change as well, but only after a round trip.
        if (!session.equals(context.session())) {
            fail(sessionLost(), written);
            return;
        }
        then(context.store().commit(planned), true, result -> {
            if (result instanceof Commit.Done<S> done) {
                written = true;
                reportExpired(planned);
                answer(done.after(), planned);
            } else if (result instanceof Commit.DoneUnchecked<S> done) {
                // The request itself is committed. Members may be waiting that can be served in the new snapshot.
                written = true;
                settling = true;
                reportExpired(planned);
                settle(planned.before(), done.after());
            } else if (result instanceof Commit.Part<S> part) {
                written = true;
                held = Math.min(held, part.held());
                // a member that got too many permits while the queue was served returns them by its own claim
                settling = settling && (delayed || request.claim() == null || part.held() == Integer.MAX_VALUE);
                propose(part.after());
            } else if (result instanceof Commit.Conflict<S>) {
                conflict();
            } else if (result instanceof Commit.OutcomeUnknown<S> unknown) {
                // No repetition here: the core sends a new claim with a higher sequence, or UnknownOutcome has the
                // worker repeat this one.
                held = Math.min(held, unknown.held());
                fail(unknown.failure(), true);
            } else if (result instanceof Commit.SessionLost<S> lost) {
                fail(lost.failure(), true);
            } else if (result instanceof Commit.Denied<S> denied) {
                fail(denied.failure(), written);
            }
        });
    }

    /** Fails nothing, because the change is committed. */
    private void reportExpired(PlannedCommit<S> planned) {
        if (!planned.step().removed().isEmpty()) {
            Mailbox.run(() -> context.reportExpired(planned));
        }
    }

    /**
     * Serves the queue again: members may have returned permits or joined it since the snapshot of the commit. Each
     * commit can bring another change to light, so this is repeated until there is nothing to do.
     */
    private void settle(S before, S after) {
        PlannedCommit<S> planned = plan(after, true);
        boolean nothingFits = after == before; // the store had nothing to write for the step
        if (nothingFits || isDone(planned)) {
            answer(after, planned);
        } else {
            commit(planned);
        }
    }

    /** Reads again, because the commit of another member may change the result of the request. */
    private void conflict() {
        // The next claim reads first: its guess would probably conflict as well, and a lost commit costs the store as
        // much as one that is made.
        cache.othersHaveWritten();
        long wait = pause.next();
        if (age(context.now()) > PATIENCE) {
            fail(
                    PermitStoreException.passing(
                            "Other members changed key '%s' %d times in %d s before this member's claim was committed; the claim will be repeated"
                                    .formatted(
                                            KeyEncoding.encode(key),
                                            pause.conflicts(),
                                            TimeUnit.NANOSECONDS.toSeconds(PATIENCE)),
                            null),
                    written);
        } else if (wait == 0) {
            read();
        } else {
            // The pause ends on the thread of the scheduler, and the read runs in the mailbox like every other event.
            context.scheduler().schedule(() -> mailbox.execute(() -> guarded(this::read)), wait, TimeUnit.NANOSECONDS);
        }
    }

    /** A task has no holding; its future ends without a value. */
    private void answer(S at, PlannedCommit<S> planned) {
        Claim claim = request.claim();
        outcome.answered(this, at, claim == null ? null : ClaimAnswer.of(at, planned, claim, latest, delayed));
    }

    /** Continues with the result in the mailbox, or fails if the session was lost meanwhile. */
    private <T> void then(CompletionStage<T> stage, boolean mayHaveWritten, Consumer<T> next) {
        stage.whenComplete((result, failure) -> mailbox.execute(() -> guarded(() -> {
            if (failure != null) {
                fail(Failures.of(key, failure), mayHaveWritten);
            } else if (!session.equals(context.session())) {
                // the result is that of a session whose records do not count any more, whatever it says
                fail(sessionLost(), mayHaveWritten);
            } else {
                next.accept(result);
            }
        })));
    }

    /** Ends the attempt if a step throws an exception: otherwise the key would stay blocked. */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            fail(Failures.of(key, e), true);
        }
    }

    /** @param mayHaveWritten true unless it is certain that no commit of this attempt was sent or executed */
    private void fail(PermitStoreException failure, boolean mayHaveWritten) {
        outcome.failed(this, failure, mayHaveWritten);
    }

    /** A passing failure, because the next session can execute the repeated claim. */
    static PermitStoreException sessionLost() {
        return PermitStoreException.passing("The session with the store has ended", null);
    }
}
