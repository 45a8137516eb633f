package io.github.distributedpermit.core.key;

import static java.util.Objects.requireNonNull;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Release;
import java.time.Duration;

/**
 * The settings that apply to the calls of one name: {@link CoreSettings}, and {@link PermitSettings}
 * merged, with times in nanoseconds so that events only add numbers. Immutable.
 *
 * @param limit the limit this member states; {@link PermitDefinition#PER_CALL} if that of a call
 * @param lease how long the store keeps a claim; with sessions, the length of the session
 * @param commandTimeout how long an answer may take
 * @param storeTimeout how long calls wait for a store that does not answer
 * @param recheck how long calls wait before the queue asks the store again
 * @param slice how long permits pass from call to call in this process while other members wait; {@link #OF_STORE} for as long as
 *     {@link AnswerTime} says
 * @param linger how long an idle permit may stay
 * @param maxWaiting calls that may wait for a key when another one of this name arrives
 * @param rejectHopeless whether a call of this name is rejected whose time-out will pass before its turn
 * @param release whether giving back waits for the store
 * @param onStoreFailure what happens to calls while the store does not answer; never {@code DEFAULT}
 */
public record Policy(
        int limit,
        long lease,
        long commandTimeout,
        long storeTimeout,
        long recheck,
        long slice,
        long linger,
        int maxWaiting,
        boolean rejectHopeless,
        Release release,
        OnStoreFailure onStoreFailure) {

    /** As a slice: it depends on how long the store takes to answer. */
    static final long OF_STORE = -1;

    /** What is late by more than this part of the command time-out is so because the process stood still. */
    private static final int STANDSTILL = 20;

    /** A member ends a lease this part of it earlier than the store, because clocks do not run at equal rates. */
    public static final int MARGIN = 20;

    /** What these settings mean, which are complete but for whether calls wait. */
    public static Policy of(CoreSettings general, PermitSettings permit) {
        Duration slice = general.handOverSlice();
        OnStoreFailure onStoreFailure = requireNonNull(permit.onStoreFailure());
        return new Policy(
                requireNonNull(permit.limit()).permits(),
                general.lease().toNanos(),
                general.commandTimeout().toNanos(),
                requireNonNull(permit.storeTimeout()).toNanos(),
                general.recheck().toNanos(),
                slice == null ? OF_STORE : slice.toNanos(),
                requireNonNull(permit.linger()).toNanos(),
                requireNonNull(permit.maxWaiting()),
                requireNonNull(permit.rejectHopeless()),
                requireNonNull(permit.release()),
                onStoreFailure == OnStoreFailure.DEFAULT ? OnStoreFailure.FAIL : onStoreFailure);
    }

    /** For a key that no call of this process uses: its queue only gives back, at once. */
    public static Policy ofUnusedKey(CoreSettings general) {
        CoreSettings returnAtOnce =
                general.toBuilder().handOverSlice(Duration.ZERO).build();
        return of(
                returnAtOnce, PermitSettings.ofLimit(PermitDefinition.MAX_LIMIT).orElse(PermitSettings.BASE));
    }

    /** Whether calls get their permits at once, without the store. */
    public boolean isUnlimited() {
        return limit == PermitDefinition.UNLIMITED;
    }

    /** Whether each call states its own limit. */
    public boolean isPerCall() {
        return limit == PermitDefinition.PER_CALL;
    }

    /** The same with another lease, which in a store with sessions is the length of the session. */
    public Policy withLease(long nanos) {
        return new Policy(
                limit,
                nanos,
                commandTimeout,
                storeTimeout,
                recheck,
                slice,
                linger,
                maxWaiting,
                rejectHopeless,
                release,
                onStoreFailure);
    }

    /** Whether the process stood still, since something happens so many nanoseconds after it was due. */
    boolean isStandstill(long late) {
        return late >= shortestStandstill();
    }

    long shortestStandstill() {
        return commandTimeout / STANDSTILL + 1;
    }

    /** How long permits are valid after the claim was sent that the store has confirmed. */
    long validity() {
        return lease - lease / MARGIN;
    }

    /** How often permits are confirmed: two confirmations may be lost within a lease. */
    long renewal() {
        return lease / 3;
    }

    Duration leaseDuration() {
        return Duration.ofNanos(lease);
    }
}
