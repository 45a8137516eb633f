package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.StackRoom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * What one event of a {@link KeyQueue} has to do outside of the queue's lock: send a claim, wake callers, set the timer,
 * notify the observer. The event collects it under the lock and calls {@link #runAll} after the lock is free, so that no
 * store, user's code or scheduler ever runs under the lock.
 *
 * <p>Confined to the thread of the event. What an error of the virtual machine prevents on this thread, whose stack may be
 * full, is postponed to the next event of the queue.
 */
final class Effects implements Executor {

    private static final System.Logger LOG = System.getLogger(Effects.class.getName());

    /** The next one in the queue's list of postponed effects; guarded by the queue's lock. */
    @Nullable
    Effects next;

    private final Source source;
    private final KeyQueueHost host;
    private @Nullable Waiter ended;
    private @Nullable Outcome outcome;
    private @Nullable List<Runnable> more;
    private int ran;
    private @Nullable Claim claim;
    private @Nullable SentClaim sent;
    private @Nullable Alarm alarm;
    private @Nullable Alarm cancelled;
    private @Nullable ClaimEnd claimEnd;
    private @Nullable List<Grant> losses;

    /** Whether the queue keeps this in its list of postponed effects; guarded by the queue's lock. */
    boolean listed;

    /** Whether this is the second try, on a thread with more room. */
    boolean postponed;

    /** Whether all steps have been tried. Written by the thread that runs them. */
    boolean done;

    Effects(Source source, KeyQueueHost host) {
        this.source = source;
        this.host = host;
    }

    /** A wait has ended, so its caller is to be woken. A caller may be woken more than once. */
    void ended(Waiter waiter, Outcome value) {
        // an event usually ends one wait or none: only further ones cost a list
        if (ended == null) {
            outcome = value;
            ended = waiter;
        } else {
            execute(() -> waiter.wake(value));
        }
    }

    /** A grant has been lost: the observer and the permit's listeners are to be notified. */
    void lost(Grant grant) {
        execute(() -> {
            try {
                host.lost(grant);
            } finally {
                grant.notifyLost();
            }
        });
        if (losses == null) {
            losses = new ArrayList<>();
        }
        losses.add(grant);
    }

    /** A claim has been answered, or has failed, after this many nanoseconds; the observer counts it. */
    void claimed(boolean answered, long nanos) {
        if (!host.isObserved()) {
            return;
        }
        ClaimEnd end = new ClaimEnd(answered, nanos);
        if (claimEnd == null) {
            claimEnd = end;
        } else {
            execute(() -> host.claimed(answered, nanos));
        }
    }

    /** Any other task. */
    @Override
    public void execute(Runnable task) {
        if (more == null) {
            more = new ArrayList<>();
        }
        more.add(task);
    }

    /** The claim is to be sent; there is one per event at most. */
    void collect(Claim value, SentClaim record) {
        claim = value;
        sent = record;
        record.collected = true;
    }

    /** The timer of the queue is to be set, and the one before it to be cancelled. */
    void alarm(@Nullable Alarm next, @Nullable Alarm before) {
        alarm = next;
        cancelled = before;
    }

    /**
     * Carries everything out. The claim leaves first, because its round trip is what callers wait for. A step that throws
     * does not stop the other steps: a waiter that has its permit and is not woken would keep the permit for ever. An error of
     * the virtual machine ends the first try; what is left is then done by the second one, which begins where it ended.
     */
    void runAll() {
        send();
        wake();
        setAlarm();
        count();
        runMore();
        logLosses();
        done = true;
    }

    private void send() {
        if (claim != null && sent != null) {
            try {
                host.send(claim, sent);
            } catch (RuntimeException | Error e) {
                failed(e);
                claim = null;
                reportUnsent(sent, e);
            }
            claim = null;
        }
    }

    private void reportUnsent(SentClaim record, Throwable cause) {
        try {
            record.follow(
                    CompletableFuture.failedFuture(cause)); // so that it is received again if the queue fails, too
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    private void wake() {
        if (ended != null && outcome != null) {
            try {
                ended.wake(outcome);
            } catch (RuntimeException | Error e) {
                failed(e);
            }
            ended = null;
        }
    }

    private void setAlarm() {
        Alarm before = cancelled;
        Alarm following = alarm;
        if (before == null && following == null) {
            return;
        }
        try {
            // a scheduler that runs out of stack half way would keep a lock or a broken heap of timers
            StackRoom.check();
            if (before != null) {
                before.cancel();
            }
            if (following != null) {
                following.set(host.scheduler());
            }
        } catch (RejectedExecutionException e) {
            // the application has ended; what is still held expires with its lease
            alarmFailed(following);
        } catch (RuntimeException | Error e) {
            if (following != null && (postponed || !(e instanceof VirtualMachineError))) {
                // this step is not repeated: the queue has no alarm now, and the repair of the queue sets one
                alarmFailed(following);
                source.trouble(e);
            }
            failed(e);
        }
        cancelled = null;
        alarm = null;
    }

    private void alarmFailed(@Nullable Alarm which) {
        if (which != null) {
            source.alarmFailed(which);
        }
    }

    private void count() {
        ClaimEnd end = claimEnd;
        if (end != null) {
            try {
                host.claimed(end.answered, end.nanos);
            } catch (RuntimeException | Error e) {
                failed(e);
            }
            claimEnd = null;
        }
    }

    private void runMore() {
        while (more != null && ran < more.size()) {
            try {
                more.get(ran).run();
            } catch (RuntimeException | Error e) {
                failed(e);
            }
            ran++;
        }
    }

    /** Last, because a log may throw or be slow; once, so that the line has the number of all. */
    private void logLosses() {
        if (losses != null) {
            try {
                host.logLosses(losses);
            } catch (RuntimeException | Error e) {
                failed(e);
            }
            losses = null;
        }
    }

    /** A step threw. After an error of the virtual machine it is repeated once, on a thread with more room. */
    private void failed(Throwable e) {
        if (e instanceof VirtualMachineError error && !postponed) {
            throw error;
        }
        try {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "A callback of a permit, such as its observer, its scheduler or the end of a call, threw an exception;"
                            + " the permit is not affected",
                    e);
        } catch (VirtualMachineError withoutRoom) {
            throw withoutRoom; // the second try was no better: the step is tried again, because its caller would wait
            // for ever
        } catch (RuntimeException | Error withoutLog) {
            // The log is what has failed. The steps that follow are as important.
        }
    }

    /** How a claim ended. */
    private record ClaimEnd(boolean answered, long nanos) {}

    /** The queue whose event this belongs to. */
    interface Source {

        /**
         * An error cut something short: another thread is to look at the queue soon.
         *
         * @return whether one will
         */
        boolean trouble(Throwable cause);

        /** The alarm could not be set. */
        void alarmFailed(Alarm which);
    }
}
