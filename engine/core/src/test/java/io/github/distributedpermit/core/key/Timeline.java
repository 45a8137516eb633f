package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Scheduler;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Virtual time: what is to happen, in order of its time and then of its scheduling. Confined to one thread. */
final class Timeline {

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.<Event>comparingLong(e -> e.at).thenComparingLong(e -> e.order));
    private long now;
    private long scheduled;
    private long happened;
    private long atThisInstant;

    long now() {
        return now;
    }

    /** How many events have happened. */
    long happened() {
        return happened;
    }

    /** How many events have happened since the clock moved last. */
    long atThisInstant() {
        return atThisInstant;
    }

    /** Something happens to a process after a while; not at all if it dies before, later if it is stopped then. */
    Event after(long delay, @Nullable SimProcess owner, Runnable task) {
        Event event = new Event(now + Math.max(0, delay), scheduled++, owner, task);
        events.add(event);
        return event;
    }

    /** Lets the next event happen; {@code false} if there is none up to that time, which then has come. */
    boolean step(long until) {
        while (true) {
            Event next = events.peek();
            if (next == null || next.at > until) {
                if (until > now) {
                    now = until;
                }
                return false;
            }
            events.remove();
            SimProcess owner = next.owner;
            if (next.cancelled || (owner != null && owner.isDead())) {
                continue;
            }
            if (owner != null && owner.stoppedUntil() > Math.max(now, next.at)) {
                next.at = owner.stoppedUntil();
                events.add(next);
                continue;
            }
            if (next.at > now) {
                now = next.at;
                atThisInstant = 0;
            }
            atThisInstant++;
            happened++;
            next.task.run();
            return true;
        }
    }

    void runUntil(long time) {
        boolean more = true;
        while (more) {
            more = step(time);
        }
    }

    void run(long duration) {
        runUntil(now + duration);
    }

    /** How many events of living processes are still to come. */
    long pending() {
        return events.stream()
                .filter(e -> !e.cancelled && e.owner != null && !e.owner.isDead())
                .count();
    }

    /** One thing to happen. */
    static final class Event implements Scheduler.Timer {
        private long at;
        private final long order;
        private final @Nullable SimProcess owner;
        private final Runnable task;
        private boolean cancelled;

        private Event(long at, long order, @Nullable SimProcess owner, Runnable task) {
            this.at = at;
            this.order = order;
            this.owner = owner;
            this.task = task;
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }
}
