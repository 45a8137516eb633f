package io.github.distributedpermit.core.key;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a {@link KeyQueue}, and the frame that all its events share: begin (look at the clock, repair), change,
 * settle, and then the {@link Effects} without the lock. Thread-safe.
 *
 * <p>An {@link Error}, such as a full stack or heap, may end an event at any point. The lock is a monitor, because the
 * virtual machine always releases a monitor. The queue is {@link #broken} from the beginning of an event to its end, so an
 * event that finds it broken knows that the one before it was cut short, and repairs the state first.
 */
abstract class KeyQueueEvents implements Effects.Source {

    /** Whether an event has begun and not ended. Guarded by the lock. */
    boolean broken;

    /** Whether a task that looks at the queue after an error has been scheduled, see {@link Repairs}. */
    final AtomicBoolean repairPending = new AtomicBoolean();

    /** How many such tasks in a row have found the queue still failing; approximate if two threads count at once. */
    volatile int repairs;

    /**
     * The effects that events could not carry out on their own thread. Guarded by the lock. Two methods put effects into
     * this list, each with the same statements and not with a common method, because a call may find no room on the stack.
     * Effects that are in the list already stay where they are: a second entry would close the list to a ring.
     */
    @Nullable
    Effects postponed;

    /** The process around the queue. */
    abstract KeyQueueHost host();

    /** The state machine behind the lock. */
    abstract KeyQueueState state();

    /** The time, after a standstill of the process has been taken into account. */
    abstract long now();

    /** Applies what has changed for the calls of the process since the last event: the admission, settings and pauses. */
    abstract void applyChanges(long now, Effects effects);

    /** What every event ends with. */
    abstract void settle(long now, Effects effects);

    /**
     * Runs one event under the lock, and its effects after the lock is free.
     *
     * @return the error that has cut the effects short, unless another thread will check the queue soon
     */
    final @Nullable Error event(Event event) {
        Effects effects = new Effects(this, host());
        Error cut = null;
        try {
            synchronized (this) {
                boolean cutShort = broken;
                broken = true;
                long now = begin(cutShort, effects);
                event.happen(now, effects);
                end(now, effects);
            }
        } catch (RuntimeException | Error e) {
            trouble(e);
            throw e;
        } finally {
            try {
                effects.runAll();
            } catch (Error e) {
                cut = e;
            }
            if (!effects.done) {
                synchronized (this) {
                    if (!effects.listed) {
                        effects.next = postponed;
                        postponed = effects;
                        effects.listed = true;
                    }
                    effects.postponed = true;
                    broken = true;
                }
            }
        }
        return cut == null || trouble(cut) ? null : cut;
    }

    /**
     * What every event begins with: it repairs what an error left undone, lets time pass, and applies changes.
     *
     * @param cutShort whether the event found the queue {@link #broken}, which it is from then on until the event ends
     */
    final long begin(boolean cutShort, Effects effects) {
        if (cutShort) {
            state().mend(effects);
            while (postponed != null) {
                Effects first = postponed;
                effects.execute(first::runAll);
                // No method is called from here on: an error can make effects run twice, which does no harm, but cannot
                // drop them.
                postponed = first.next;
                first.next = null;
                first.listed = false;
            }
        }
        long now = now();
        state().begin(now, effects);
        applyChanges(now, effects);
        return now;
    }

    /** The end of an event. Only if it is reached, the queue is not broken. */
    final void end(long now, Effects effects) {
        settle(now, effects);
        broken = false;
    }

    /** Makes the next event repair the state. */
    final synchronized void markBroken() {
        broken = true;
    }

    /** What happens between begin and settle. */
    interface Event {
        void happen(long now, Effects effects);
    }
}
