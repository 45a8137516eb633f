package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.Step;
import java.util.Optional;

/**
 * What a step makes of a snapshot, not yet committed. Used by one thread at a time.
 *
 * <p>{@link CommitAttempt} creates it, and a {@link SnapshotStore} translates it into one transaction. The table
 * belongs to the plan alone, since {@link Snapshot#table} makes a new one for each step.
 *
 * @param key as the user gave it
 * @param session in which alone it may be committed
 * @param before the snapshot that it rests on
 * @param after all records and the operator's limit as they are to be
 * @param step the difference, and the other members that were served and are to be notified; what
 *     {@link KeyTable#retain} dropped is part of it
 * @param changesOverride whether the operator's limit in {@code after} differs from the one before
 * @param claim that it follows from; empty if it changes the operator's limit, removes the member or only serves the queue
 * @param fresh whether the snapshot was read or committed by the same attempt. Otherwise it may be out of date
 */
public record PlannedCommit<S extends Snapshot>(
        String key,
        StoreSession session,
        S before,
        KeyTable after,
        Step step,
        boolean changesOverride,
        Optional<Claim> claim,
        boolean fresh) {

    /** The name in snapshots of the member that commits. */
    public String member() {
        return session.member();
    }

    /**
     * Whether there is nothing to write. The override is compared apart from the step, because it is no record of a
     * member.
     */
    public boolean isUnchanged() {
        return step.isUnchanged() && !changesOverride;
    }

    /**
     * Whether the claim would change nothing but the sequence and version of the member's own record, as the re-check
     * of a waiting member does as a rule. If the store allows it, such a claim is answered from the snapshot, so that
     * waiting members cause reads and no writes.
     */
    boolean isRepetition() {
        if (step.written().size() != 1 || !step.removed().isEmpty() || changesOverride) {
            return false;
        }
        PermitRecord written = step.written().get(0);
        return written.member().equals(member())
                && before.record(member()).filter(written::isRepetitionOf).isPresent();
    }
}
