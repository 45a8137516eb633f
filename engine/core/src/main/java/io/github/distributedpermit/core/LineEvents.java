package io.github.distributedpermit.core;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a line, and what all its events have in common. An error, such as a full stack or heap, may end an event
 * anywhere. The lock is a monitor, since nothing keeps that from being released. The line is {@link #broken} from the
 * beginning of an event to its end; an event that finds it so mends it first.
 */
abstract class LineEvents {

    /** Whether an event has not come to its end. */
    boolean broken;

    /** Whether a task that looks at the line after an error is on its way, see {@link Repairs}. */
    final AtomicBoolean repairPending = new AtomicBoolean();
    /** How many such tasks in a row have found the line failing still; only roughly, if two threads count. */
    volatile int repairs;

    /** What events could not do on their own thread. */
    @Nullable
    Effects postponed;

    abstract KeyLine line();

    abstract LineHost host();

    abstract LineState state();

    /** The time, after a standstill has been made allowance for. */
    abstract long now();

    /** What every event ends with. */
    abstract void settle(long now, Effects effects);

    final void event(Event event) {
        Effects effects = new Effects(line());
        try {
            synchronized (this) {
                long now = begin(effects);
                event.happen(now, effects);
                end(now, effects);
            }
        } catch (RuntimeException | Error e) {
            host().trouble(line(), e);
            throw e;
        } finally {
            effects.runAll();
        }
    }

    /** What every event begins with: what an error kept the last one from is made up for, and time has passed. */
    final long begin(Effects effects) {
        boolean cutShort = broken;
        broken = true;
        if (cutShort) {
            state().mend(effects);
            while (postponed != null) {
                effects.run(postponed::runAll);
                postponed = postponed.next;
            }
        }
        long now = now();
        state().begin(now, effects);
        return now;
    }

    final void end(long now, Effects effects) {
        settle(now, effects);
        broken = false;
    }

    final synchronized void markBroken() {
        broken = true;
    }

    /** What happens between begin and settle. */
    interface Event {
        void happen(long now, Effects effects);
    }
}
