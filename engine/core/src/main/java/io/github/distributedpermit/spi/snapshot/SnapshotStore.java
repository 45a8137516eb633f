package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A store without scripts, as one member (one process) sees it: it reads a key as a whole and commits a change of it by
 * check-and-set. Everything else, from the queue of claims to the answer, is done by <em>the layer</em>: {@link
 * SnapshotPermitStore} and the other classes of this package.
 *
 * <p>Who does what:
 *
 * <ul>
 *   <li>The store opens and renews the session of the member, and reports its state by {@link StoreEvents}. Snapshots
 *       leave out members whose sessions have ended.
 *   <li>{@link #commit} also notifies: each member in {@link io.github.distributedpermit.spi.step.Step#served} gets a
 *       message in the same transaction, so that no member is notified of a grant that was not committed.
 *   <li>The layer decides when a key is read, and repeats after a conflict, with growing pauses. It has at most one
 *       {@code read} or {@code commit} of a key under way, and calls for different keys at the same time.
 *   <li>The core of a waiting member repeats its claim periodically (the re-check). If the claim changes nothing, the layer
 *       reads the key and writes nothing.
 * </ul>
 *
 * <p>Methods are called by any thread and never block; stages may end on any thread. A stage that fails with something
 * other than {@link PermitStoreException} is reported as a passing failure of unknown outcome.
 *
 * @param <S> what it reads
 */
public interface SnapshotStore<S extends Snapshot> {

    /** Begins to connect; called once, before all others. The events may be called before this method has returned. */
    void open(StoreEvents events);

    /**
     * How long the session outlives its last confirmed renewal. The core uses no permit after the send time of the last
     * renewal that {@link StoreEvents#alive} reported, plus this time less a margin of a twentieth.
     */
    Duration session();

    /**
     * The key as it is now: no change that was committed before the call is missing. A read from a server that may lag behind
     * is not allowed, because permits that other members hold would be granted again.
     */
    CompletionStage<S> read(String key);

    /**
     * Makes a change in one transaction, if the snapshot it rests on still holds. A store that can't compare the whole key, or
     * can't make the whole change at once, says so by {@link Commit.DoneUnchecked} or {@link Commit.Part}. A failed stage
     * counts as an unknown outcome, so a store that has certainly sent nothing returns {@link Commit.Denied} or {@link
     * Commit.SessionLost}.
     */
    CompletionStage<Commit<S>> commit(PlannedCommit<S> planned);

    /** For operators, at any time: the key as in {@link #read}. */
    default CompletionStage<S> inspect(String key) {
        return read(key);
    }

    /**
     * The {@linkplain io.github.distributedpermit.spi.KeyEncoding encoded} names of some keys, for operators, see {@link
     * io.github.distributedpermit.spi.PermitStore#keys}.
     *
     * @param most how many are enough; the store may have more, and answer with more
     */
    default CompletionStage<List<String>> keyNames(int most) {
        return CompletableFuture.failedFuture(
                PermitStoreException.permanent("This store does not list its keys; ask for a key by its name", null));
    }

    /**
     * The readable name of a member, for operators; empty if the store has none.
     *
     * @param member as in {@link Snapshot}
     */
    default CompletionStage<Optional<String>> memberName(String member) {
        return CompletableFuture.completedFuture(Optional.empty());
    }

    /**
     * Deletes, by order of an operator, what is recorded for a process in a key; the layer serves the queue afterwards. If
     * the process is alive, the store there reports {@link StoreEvents#reduced}.
     *
     * @param process as in {@link Snapshot#process}
     * @return how many permits it had
     */
    default CompletionStage<Integer> evict(String key, String process) {
        return CompletableFuture.failedFuture(PermitStoreException.permanent(
                "This store cannot take permits from a member; stop the member instead", null));
    }

    /** What to assume of a key that the member has not used before, instead of reading it; {@code null} to read it. */
    default @Nullable S assumedUnused(String key) {
        return null;
    }

    /**
     * Whether to try a change that rests on a snapshot which may be out of date. The layer asks only if the change grants
     * or returns all that the claim asks for.
     *
     * @param alone whether no change of another member was seen between the last two claims; always true for what
     *     {@link #assumedUnused} returned
     */
    default boolean mayCommitUnread(PlannedCommit<S> planned, boolean alone) {
        return alone;
    }

    /**
     * Whether a claim that repeats what is recorded for the member may be answered without a write. A store in which
     * the record needs something beside it, such as a node of the session, answers {@code false} while that is
     * missing.
     */
    default boolean mayStayUnwritten(PlannedCommit<S> planned) {
        return true;
    }

    /**
     * Whether the store has entries of the key that belong to no record, and that a commit would remove. Members that change
     * the key side by side may leave them: each sees the records of the others, and none sees that it is the last. The
     * change is then committed although its step changes nothing.
     */
    default boolean hasOrphans(PlannedCommit<S> planned) {
        return false;
    }

    /**
     * No request of the key is under way or waits, so the store may delete what an earlier session has left. The next claim may
     * begin before that is done.
     *
     * @param last what was last read or committed in this session; {@code null} if that is not known
     */
    default void rested(String key, @Nullable S last) {}

    /**
     * The member has not used these keys for a while, and neither holds nor waits there. Until the stage ends, none of them
     * is read or changed.
     *
     * @return the keys that need no clean-up any more; the others are kept
     */
    default CompletionStage<Set<String>> release(Set<String> keys) {
        return CompletableFuture.completedFuture(keys);
    }

    /**
     * Why a limit is not possible in this store, for a claim or as the operator's; {@code null} if it is. Called by
     * any thread before a request is queued; must not ask the store.
     */
    default @Nullable PermitStoreException refusal(String key, int limit) {
        return null;
    }

    /** As in {@link io.github.distributedpermit.spi.PermitStore#problem}. */
    default Optional<String> problem() {
        return Optional.empty();
    }

    /** Ends the session, within 300 ms. The layer has tried before to return what the member held. */
    void close();
}
