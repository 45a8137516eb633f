package io.github.distributedpermit.core;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The line of one key within this process, first come first served; any waiter leaves in constant time. Links and counts
 * change together, without a call in between, so that no error can leave them at odds.
 */
final class WaiterQueue {

    private @Nullable Waiter first;
    private @Nullable Waiter last;
    private int size;
    private long weight;
    private int queueing;
    private int heaviest;

    void add(Waiter waiter) {
        waiter.previous = last;
        if (last == null) {
            first = waiter;
        } else {
            last.next = waiter;
        }
        last = waiter;
        waiter.inLine = true;
        size++;
        weight += waiter.weight;
        if (waiter.weight > heaviest) {
            heaviest = waiter.weight;
        }
        if (waiter.queueing) {
            queueing++;
        }
    }

    /** Takes the waiter out, wherever it stands; of no effect if it has left already. */
    void remove(Waiter waiter) {
        if (!waiter.inLine) {
            return;
        }
        Waiter before = waiter.previous;
        Waiter after = waiter.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
        waiter.previous = null;
        waiter.next = null;
        waiter.inLine = false;
        size--;
        weight -= waiter.weight;
        if (waiter.queueing) {
            queueing--;
        }
        if (size == 0) {
            heaviest = 0;
        }
    }

    @Nullable
    Waiter first() {
        return first;
    }

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    /** Sum of the weights. */
    long weight() {
        return weight;
    }

    /** Whether anybody is willing to wait. */
    boolean hasQueueing() {
        return queueing > 0;
    }

    /** Whether anybody only tries. */
    boolean hasTries() {
        return queueing < size;
    }

    /** No waiter is heavier than this. */
    int heaviest() {
        return heaviest;
    }

    /** Marks those that came since the last claim; they stand at the end. */
    void claimed(long sequence) {
        for (Waiter w = last; w != null && w.firstClaim == Waiter.UNCLAIMED; w = w.previous) {
            w.firstClaim = sequence;
        }
    }

    /** No claim was sent for any of them, as far as answers to come are concerned. */
    void unclaimed() {
        for (Waiter w = last; w != null; w = w.previous) {
            w.firstClaim = Waiter.UNCLAIMED;
        }
    }

    /** Ends the wait of all that match. */
    void end(Predicate<Waiter> which, Outcome outcome, Effects effects) {
        Waiter w = first;
        while (w != null) {
            Waiter following = w.next;
            if (which.test(w)) {
                // who is decided and still in line is woken by the next event, if an error cuts this one short
                if (w.decide(outcome)) {
                    effects.ended(w, outcome);
                }
                remove(w);
            }
            w = following;
        }
    }

    /** After an error: whoever is decided leaves, and is woken once more in case nobody has. */
    void mend(Ledger ledger, Effects effects) {
        Waiter w = first;
        while (w != null) {
            Waiter following = w.next;
            Outcome outcome = w.outcome();
            if (outcome != null) {
                if (outcome instanceof Grant grant) {
                    ledger.holdAfterError(grant);
                }
                effects.ended(w, outcome);
                remove(w);
            }
            w = following;
        }
    }
}
