package io.github.distributedpermit.core;

import org.jspecify.annotations.Nullable;

/**
 * The grants of a line that count, in the order granted. Links and counts change together, without a call in between, so
 * that no error can leave them at odds.
 */
final class Holders {

    private @Nullable Grant newest;
    private int inUse;

    void add(Grant grant) {
        grant.previous = newest;
        if (newest != null) {
            newest.next = grant;
        }
        newest = grant;
        grant.counted = true;
        inUse += grant.weight;
    }

    /** Takes a grant out; {@code false} if it does not count any more. */
    boolean remove(Grant grant) {
        if (!grant.counted) {
            return false;
        }
        Grant before = grant.previous;
        Grant after = grant.next;
        if (before != null) {
            before.next = after;
        }
        if (after == null) {
            newest = before;
        } else {
            after.previous = before;
        }
        grant.previous = null;
        grant.next = null;
        grant.counted = false;
        inUse -= grant.weight;
        return true;
    }

    /** The newest lose their permits until no more than this are in use. */
    void loseDownTo(int permits, Effects effects) {
        while (inUse > permits && newest != null) {
            Grant grant = newest;
            effects.lost(grant);
            grant.ungauge();
            grant.markLost();
            remove(grant);
        }
    }

    /** After an error: those whose calls have ended count no more, the others in the gauge as well. */
    void mend() {
        Grant grant = newest;
        while (grant != null) {
            Grant before = grant.previous;
            if (grant.ended) {
                grant.ungauge();
                remove(grant);
            } else {
                grant.gauge();
            }
            grant = before;
        }
    }

    int inUse() {
        return inUse;
    }
}
