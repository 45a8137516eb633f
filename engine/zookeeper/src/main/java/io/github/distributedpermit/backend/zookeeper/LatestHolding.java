package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Holding;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The newest state of the member's record that was received, by an answer or by a notification, and the highest claim
 * that is answered by it.
 *
 * <p>A claim that changes nothing but the sequence of the record is answered without a write. The document then has a
 * lower sequence than the core. Whatever comes from the document is given the sequence of the last answered claim here,
 * so that the core neither ignores a grant because it seems to belong to an earlier claim, nor accepts a state that is
 * older than one it has. A claim that arrives after one with a higher sequence was answered is delayed and changes
 * nothing, although the document may not show it. Guarded by the lock of the channel.
 */
final class LatestHolding {

    private @Nullable Holding latest;
    /** The sequence that the document has. */
    private long recorded = -1;
    /** The highest sequence of a claim that was answered. */
    private long answered = -1;

    /**
     * A claim was answered.
     *
     * @param holding the answer, with the sequence of the claim, or of the record if that is higher
     * @param sequence the sequence that the document has for the member
     * @return what to answer
     */
    Holding answered(Holding holding, long sequence) {
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
     * A notification was received.
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

    private Holding translated(Holding h) {
        return h.sequence() != recorded ? h : withSequence(h, answered);
    }

    private static Holding withSequence(Holding h, long sequence) {
        return new Holding(h.permits(), h.limit(), sequence, h.version(), h.contended(), h.over(), h.recheckAfter());
    }

    /** The highest sequence of a claim that was answered. */
    long answered() {
        return answered;
    }

    /** The member has nothing any more; {@code null} if it was never notified that it had. */
    @Nullable
    Holding gone() {
        Holding h = latest;
        if (h != null) {
            latest =
                    new Holding(0, h.limit(), h.sequence(), h.version() + 1, h.contended(), h.over(), Optional.empty());
        }
        return latest;
    }
}
