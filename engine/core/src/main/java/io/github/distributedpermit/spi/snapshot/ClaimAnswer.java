package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.Optional;

/**
 * Computes the answer to a claim from the snapshot in which its {@link CommitAttempt} ended. The permits are those of the
 * step; sequence and version are chosen so that the core orders this answer correctly among all others. Stateless.
 *
 * <p>Called by {@link CommitAttempt} at its end, in the mailbox of the key; {@link LatestVersion} then orders the
 * answer among the notifications.
 */
final class ClaimAnswer {

    private ClaimAnswer() {}

    /**
     * The answer.
     *
     * @param at the key after the claim
     * @param planned the last change of the attempt, committed or found to be unnecessary
     * @param latest what the member has received of the key so far
     * @param delayed whether the claim took no effect, because one with a higher sequence was sent before
     */
    static <S extends Snapshot> Holding of(
            S at, PlannedCommit<S> planned, Claim claim, LatestVersion latest, boolean delayed) {
        Optional<PermitRecord> record = at.record(planned.member());
        // A step that only served the queue has no answer, because no claim was part of it. The member's holding is
        // read from the table.
        Holding found = planned.step().answer().orElseGet(() -> view(at.table(), planned.member(), claim));
        // A delayed claim is answered with the state that a later claim has left. With its own, lower sequence the core
        // would ignore that state.
        long sequence = delayed
                ? Math.max(latest.answered(), record.map(PermitRecord::sequence).orElse(-1L))
                : claim.sequence();
        // If the commit has removed the member's record, the version comes from the step: the highest version of the
        // key may be that of a member that the same step has served.
        boolean removed = at != planned.before() && found.version() > 0 && record.isEmpty();
        long version = removed ? found.version() : at.version(planned.member(), latest.version());
        return new Holding(
                found.permits(),
                found.limit(),
                sequence,
                version,
                planned.after().epoch(),
                found.others());
    }

    /** The holding of the member according to a table, in which it may have no record. */
    private static Holding view(KeyTable table, String member, Claim claim) {
        // The operator's limit precedes the one that the member states, as in the step.
        int limit = table.override().orElse(claim.counts().limit());
        Optional<Holding> own = table.view(member, 0);
        // A member without a record is not queued itself, so that any queued record is that of another member.
        boolean contended = own.map(h -> h.others().contended())
                .orElseGet(() -> table.records().stream().anyMatch(PermitRecord::isQueued));
        return new Holding(
                own.map(Holding::permits).orElse(0), limit, 0, 0, Holding.Others.of(contended, table.used() > limit));
    }
}
