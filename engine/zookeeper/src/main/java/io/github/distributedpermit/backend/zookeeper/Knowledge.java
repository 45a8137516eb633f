package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Claim;
import org.jspecify.annotations.Nullable;

/**
 * What a member knows of a key, and whether it may act on it without a reading. It may if nobody else wrote between its
 * last two claims; if that turns out wrong the transaction fails, and it reads. Thread-safe.
 */
final class Knowledge {

    private final Places places = new Places();
    /** Neither read nor written yet: perhaps the key has no node, and one write will do. */
    private boolean untouched = true;

    private boolean trusted = true;
    private @Nullable Snapshot known;

    /** On what a claim may try its luck; {@code null} if it has to read. */
    synchronized @Nullable Snapshot guess(boolean joined) {
        if (untouched) {
            untouched = false;
            return Snapshot.NOTHING;
        }
        return trusted && joined ? known : null;
    }

    /** A claim before this one would have done without the reading if nobody else had written. */
    synchronized void read(Snapshot snapshot) {
        trusted = known == null || known.isOf(snapshot);
    }

    synchronized void distrust() {
        trusted = false;
    }

    synchronized void forget() {
        known = null;
    }

    /** A claim has been answered by this. */
    synchronized void learn(Snapshot at, Attempt attempt, Draft draft, long now) {
        known = at;
        Claim claim = attempt.request().claim();
        if (claim.queue() && claim.unit() > 0 && !attempt.isDelayed()) {
            long version = at.absolute(draft.before().document().ticks() + 1);
            places.recorded(attempt.request().arrival(), now, version);
        }
    }

    synchronized Draft draft(Attempt attempt, String member, Snapshot snapshot) {
        return attempt.draft(member, snapshot, places);
    }

    /** Whether the member is known to have no record. */
    synchronized boolean isFreeOf(String member) {
        return known != null && !known.document().mentions(member);
    }
}
