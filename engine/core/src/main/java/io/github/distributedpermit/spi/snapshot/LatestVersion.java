package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Holding;
import org.jspecify.annotations.Nullable;

/**
 * The newest state of the member's record of a key that was received, by an answer or by a notification, and the highest
 * claim that is answered by it.
 *
 * <p>A claim that changes nothing but the sequence of the record is answered without a write. The store then has a lower
 * sequence than the core, or none at all. Whatever comes from the store is given the sequence of the last answered claim
 * here, so that the core neither ignores a grant because it seems to belong to an earlier claim, nor accepts a state that
 * is older than one it has. Confined to its {@link KeyWorker}.
 */
final class LatestVersion {

    /** The sequence of a record in a store that does not record sequences. */
    static final long NO_SEQUENCE = -1;

    /** With the sequence that was passed to the core; {@code null} before the first answer of the session. */
    private @Nullable Holding latest;
    /** The sequence that the store has. */
    private long recorded = NO_SEQUENCE;
    /** The highest sequence of a claim that was answered. */
    private long answered = -1;

    /**
     * A claim was answered.
     *
     * @param holding the answer, with the sequence of the claim, or of the record if that is higher
     * @param sequence the sequence that the store has for the member
     * @return the answer, or the notification that has overtaken it, with the sequence of the last answered claim
     */
    Holding answered(Holding holding, long sequence) {
        // Compared before the fields change: only then does the stored version belong to the record of this answer.
        boolean sameRecord = sequence == recorded;
        if (holding.sequence() > answered) {
            answered = holding.sequence();
            recorded = sequence;
        }
        Holding current = translated(holding);
        Holding before = latest;
        if (before != null && sameRecord && before.version() > current.version()) {
            current = withSequence(before, answered); // a notification of the same record has overtaken the answer
        }
        latest = current;
        return current;
    }

    /**
     * A notification was received. An older notification is passed on as well, because the core decides by sequence
     * and version. It only does not replace the newest state here.
     *
     * @return what to pass on
     */
    Holding notified(Holding notice) {
        Holding holding = translated(notice);
        Holding before = latest;
        boolean older = before != null
                && (before.sequence() > holding.sequence()
                        || (before.sequence() == holding.sequence() && before.version() > holding.version()));
        if (!older) {
            latest = holding;
        }
        return holding;
    }

    /**
     * A state whose sequence is that of the record, or unknown, belongs to the last answered claim. A higher sequence
     * belongs to a claim whose answer is still under way, and stays as it is.
     */
    private Holding translated(Holding h) {
        boolean current = h.sequence() == recorded || h.sequence() == NO_SEQUENCE;
        return current ? withSequence(h, answered) : h;
    }

    private static Holding withSequence(Holding h, long sequence) {
        return new Holding(h.permits(), h.limit(), sequence, h.version(), h.epoch(), h.others());
    }

    /** The highest sequence of a claim that was answered. */
    long answered() {
        return answered;
    }

    /** The version that the member received last in this session; 0 if none. */
    long version() {
        return latest == null ? 0 : latest.version();
    }

    /** Whether the core may use permits of the key, as of the newest state that was received. */
    boolean holdsPermits() {
        return latest != null && latest.permits() > 0;
    }

    /** Whether another member is queued, as of the newest state that was received. */
    boolean isContended() {
        return latest != null && latest.others().contended();
    }

    /**
     * Permits were deleted from outside; {@code null} if the member was never notified that it had any. The next
     * version above the last one makes the core apply the loss, although no version of the store stands for it.
     */
    @Nullable
    Holding reduced(int left) {
        Holding h = latest;
        if (h != null) {
            latest = new Holding(left, h.limit(), h.sequence(), h.version() + 1, h.epoch(), h.others());
        }
        return latest;
    }

    /** The versions of a new session have nothing to do with those of the one before. */
    void forget() {
        latest = null;
        recorded = NO_SEQUENCE;
    }
}
