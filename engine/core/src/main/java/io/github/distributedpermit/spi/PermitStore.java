package io.github.distributedpermit.spi;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The store as one member sees it. Thread-safe, and no method but {@link #close} ever blocks.
 *
 * <p>The laws of {@code claim}, each a test of {@code PermitBackendContract}:
 *
 * <ol>
 *   <li>A grant never lifts the sum over live members above the served member's own limit, which its record carries, or
 *       the operator's override, whoever freed the permits.
 *   <li>No other member ever reduces a live member's holding below its {@code held}, not even a lowered limit.
 *   <li>{@code wanted} below the holding returns the rest at once.
 *   <li>A claim whose sequence is not above the last one seen from the member changes nothing.
 *   <li>Leases run on the store's clock or session. An expired member counts zero, and its next answer says so.
 *   <li>First come, first served among members by the age of their oldest waiter. No barging: a member that does not fit blocks
 *       those behind it. Only one that its own lower limit keeps out does not: a member behind it is served under its own higher
 *       limit if the permits that the first one's oldest waiter lacks are free under that limit. The first one keeps its place.
 *       In a store that orders waiters by its own versions, members whose waiters came within a few answers may take turns.
 *   <li>The step that frees permits serves the head of the queue in the same atomic step and notifies only the members served. A
 *       notification is sent only for a grant that stands: a grant is never taken back after its notification was sent.
 *   <li>Unused keys disappear from the store by themselves.
 *   <li>A claim costs at most logarithmically more with more members of its key (Redis, local).
 * </ol>
 *
 * <p>A stage that fails does so with {@link PermitStoreException}; the claim may have taken effect all the same, or may
 * yet. Cancelling a stage, where it is a future, lets the store know that its answer is not awaited any more.
 */
public interface PermitStore extends AutoCloseable {

    /** The one atomic step. */
    CompletionStage<Holding> claim(Claim claim);

    /** Who holds and who waits, for operators, metrics and tests. Reads only, except that expired records may be removed. */
    CompletionStage<KeyState> inspect(String key);

    /**
     * Some keys of this store, for operators. It takes as long as there are keys, so that it is for people who ask, not for each look.
     *
     * @param most how many at most
     */
    default CompletionStage<KeyList> keys(int most) {
        return CompletableFuture.failedFuture(
                PermitStoreException.permanent("This store does not list its keys; ask for a key by its name", null));
    }

    /**
     * Sets or lifts the operator's limit of a key, which wins over every member's own; 0 is a pause. It does not vanish
     * with the key. That it ends, if it does, is up to the members: see {@link #lift}.
     */
    CompletionStage<Void> override(String key, OverrideLimit limit);

    /** Lifts the operator's limit of a key, in one atomic step, unless it is another one by now. */
    CompletionStage<Void> lift(String key, OverrideLimit ended);

    /**
     * Takes from a member, by order of an operator, all permits that are recorded for it, and serves the queue with them. A
     * member that is alive is notified with its next message or check, and its calls lose their permits; they may still
     * run, so that the limit can be exceeded until they end. The calls that wait in the member keep their age: the
     * member joins the queue again by its next claim, at the latest after the re-check.
     *
     * @param member as in {@link KeyState.MemberState#member}
     * @return how many permits were taken; 0 if the member has none
     */
    default CompletionStage<Integer> evict(String key, String member) {
        return CompletableFuture.failedFuture(PermitStoreException.permanent(
                "This store cannot take permits from a member; stop the member instead", null));
    }

    /**
     * Present if the store keeps its members alive itself, by a session: how long the session outlives the member's last
     * confirmed renewal. Such a store calls {@link HoldingListener#alive} and {@link HoldingListener#lost}, and a
     * claim's lease has no meaning.
     */
    default Optional<Duration> session() {
        return Optional.empty();
    }

    /**
     * Whether other members may want permits of this store. While there are none, permits that are not in use may stay with
     * the member. When others may again, the store notifies the member that each of its keys has
     * {@linkplain HoldingListener#changed changed}, before it serves them.
     */
    default boolean isShared() {
        return true;
    }

    /**
     * Why this member can't do its part although claims may be answered, such as that no notifications reach it; for health.
     * Empty if all is well. Never blocks.
     */
    default Optional<String> problem() {
        return Optional.empty();
    }

    /** Why limits are not safe although the store answers, such as a server that may drop records; for health. Never blocks. */
    default Optional<String> warning() {
        return Optional.empty();
    }

    /**
     * Whether {@link #close} ends what the member still holds, so that others may get it at once. Otherwise it lapses with its
     * leases.
     */
    default boolean endsPermitsOnClose() {
        return session().isPresent();
    }

    /**
     * Ends the membership within a second. A store with sessions ends its session; a store with leases lets lapse what
     * the member has not returned, for the calls that hold it may still run. The store in memory drops it at once.
     */
    @Override
    void close();
}
