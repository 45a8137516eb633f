package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.StackRoom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The calls of one key whose names are {@linkplain KeyQueueHost#pause paused}, or may be. They wait here and not in the
 * {@link WaiterQueue}, so no claim asks for them; they enter the queue when the pause has ended. Guarded by the lock of the
 * {@link KeyQueue}.
 */
final class HeldBackCalls {

    private final KeyQueueHost host;
    private Set<Waiter> calls = Collections.emptySet();

    HeldBackCalls(KeyQueueHost host) {
        this.host = host;
    }

    boolean isEmpty() {
        return calls.isEmpty();
    }

    int size() {
        return calls.size();
    }

    void add(Waiter waiter) {
        StackRoom.check(); // an error within the set could lose the call
        if (calls.isEmpty()) {
            calls = new LinkedHashSet<>();
        }
        calls.add(waiter);
    }

    /** Has no effect if the call is not held back. */
    void remove(Waiter waiter) {
        calls.remove(waiter);
    }

    /**
     * Takes the calls of paused names out of the queue. A call that waited gives up its place here and in the store, but keeps its age. One
     * that does not wait is rejected.
     */
    void takeFrom(WaiterQueue waiters, Effects effects) {
        Waiter w = waiters.firstCall();
        while (w != null) {
            Waiter following = w.next;
            if (host.pause(w.permit) == PauseState.PAUSED) {
                if (w.isTry) {
                    w.refuse(w.mayWait ? Reason.SHUTTING_DOWN : Reason.LIMIT_REACHED, effects);
                } else {
                    add(w);
                }
                waiters.remove(w);
                w.hasToWait = false;
                w.firstClaim = Waiter.UNCLAIMED;
                w.ownClaim = Waiter.UNCLAIMED;
            }
            w = following;
        }
    }

    /** The calls as they would be in the queue. */
    List<Waiter> inOrder() {
        List<Waiter> inOrder = new ArrayList<>(calls);
        inOrder.sort(Comparator.comparingLong(each -> each.queuedAt));
        return inOrder;
    }

    /** Ends the wait of all. */
    void end(Outcome outcome, Effects effects) {
        calls.forEach(waiter -> waiter.end(outcome, effects));
        calls = Collections.emptySet();
    }

    /** After an error: removes the calls that have entered the queue, or are decided, and wakes these once more. */
    void mend(Effects effects) {
        calls.removeIf(waiter -> {
            Outcome outcome = waiter.outcome();
            if (outcome != null) {
                effects.ended(waiter, outcome);
            }
            return outcome != null || waiter.inQueue;
        });
    }

    void forEach(Consumer<Waiter> action) {
        calls.forEach(action);
    }

    /** Adds the calls, until the list has so many. */
    void describe(long now, int most, List<CallView> views) {
        for (Waiter held : calls) {
            if (views.size() < most) {
                views.add(held.view(CallView.State.WAITING, held.arrival, now));
            }
        }
    }
}
