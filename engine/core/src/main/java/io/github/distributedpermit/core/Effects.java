package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.StackRoom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * What an event has to do once the lock of its line is free. Confined to the thread of the event. What an error of the
 * virtual machine keeps from happening on this thread, whose stack may be full, happens with the next event of the line.
 */
final class Effects {

    private static final System.Logger LOG = System.getLogger(Effects.class.getName());

    /** Of the line that keeps both for its next event; guarded by its lock. */
    @Nullable
    Effects next;

    private final KeyLine line;
    private final LineHost host;
    private @Nullable Waiter ended;
    private @Nullable Outcome outcome;
    private @Nullable List<Runnable> more;
    private int done;
    private @Nullable Claim claim;
    private @Nullable SentClaim sent;
    private @Nullable Alarm alarm;
    private @Nullable Alarm cancelled;
    private @Nullable NameUse passedTo;
    private boolean postponed;

    Effects(KeyLine line) {
        this.line = line;
        this.host = line.host();
    }

    /** A wait has ended; the caller is to be told, perhaps more than once. */
    void ended(Waiter waiter, Outcome value) {
        if (ended == null) {
            outcome = value;
            ended = waiter;
        } else {
            run(() -> waiter.wake(value));
        }
    }

    /** A grant has been lost. */
    void lost(Grant grant) {
        run(() -> {
            try {
                host.lost(grant);
            } finally {
                grant.tellLost();
            }
        });
    }

    /** A permit passed to another call of this process. */
    void handedOver(Grant grant) {
        if (passedTo == null && grant.weight == 1) {
            passedTo = grant.use;
        } else {
            run(() -> host.handedOver(grant.use, grant.weight));
        }
    }

    void run(Runnable task) {
        if (more == null) {
            more = new ArrayList<>();
        }
        more.add(task);
    }

    void send(Claim value, SentClaim record) {
        claim = value;
        sent = record;
        record.leaves = true;
    }

    /** The timer of the line is to be set anew. */
    void alarm(@Nullable Alarm next, @Nullable Alarm before) {
        alarm = next;
        cancelled = before;
    }

    /**
     * The claim leaves first: its round trip is what callers wait for. Whatever one of them throws, the others happen: a
     * waiter that has its permit and is not woken would keep it for ever.
     */
    void runAll() {
        try {
            send();
            wake();
            setAlarm();
            count();
            runMore();
        } catch (Throwable e) {
            synchronized (line) {
                postponed = true;
                next = line.postponed;
                line.postponed = this;
                line.broken = true;
            }
            host.trouble(line, e);
        }
    }

    private void send() {
        if (claim != null && sent != null) {
            try {
                host.send(claim, sent);
            } catch (RuntimeException | Error e) {
                failed(e);
            }
            claim = null;
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
            StackRoom.check();
            if (before != null) {
                before.cancel();
            }
            if (following != null) {
                following.set(host.scheduler());
            }
        } catch (RejectedExecutionException e) {
            // the application has ended; what is left lapses with its lease
            alarmFailed(following);
        } catch (RuntimeException | Error e) {
            if (following != null && (postponed || !(e instanceof VirtualMachineError))) {
                // nothing repeats this step: the line has no alarm now, and the next look at it sets one
                alarmFailed(following);
                host.trouble(line, e);
            }
            failed(e);
        }
        cancelled = null;
        alarm = null;
    }

    private void alarmFailed(@Nullable Alarm which) {
        if (which != null) {
            line.alarmFailed(which);
        }
    }

    private void count() {
        if (passedTo != null) {
            try {
                host.handedOver(passedTo, 1);
            } catch (RuntimeException | Error e) {
                failed(e);
            }
            passedTo = null;
        }
    }

    private void runMore() {
        while (more != null && done < more.size()) {
            try {
                more.get(done).run();
            } catch (RuntimeException | Error e) {
                failed(e);
            }
            done++;
        }
    }

    /** The step is repeated on a thread with more room, once; otherwise it has failed. */
    private void failed(Throwable e) {
        if (e instanceof VirtualMachineError error && !postponed) {
            throw error;
        }
        LOG.log(
                System.Logger.Level.ERROR,
                "Something that follows from an event of a permit failed; the rest goes on",
                e);
    }
}
