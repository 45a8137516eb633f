package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.Claim;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What an event has to do once the lock of its line is free. Confined to the thread of the event. */
final class Effects {

    private static final System.Logger LOG = System.getLogger(Effects.class.getName());

    private final LineHost host;
    private @Nullable Waiter ended;
    private @Nullable Outcome outcome;
    private @Nullable List<Runnable> more;
    private @Nullable Claim claim;
    private @Nullable SentClaim sent;
    private @Nullable NameUse passedTo;

    Effects(LineHost host) {
        this.host = host;
    }

    /** A wait has ended; the caller is to be told. */
    void ended(Waiter waiter, Outcome value) {
        if (ended == null) {
            ended = waiter;
            outcome = value;
        } else {
            run(() -> waiter.wake(value));
        }
    }

    /** A grant has been lost. */
    void lost(Grant grant) {
        run(() -> {
            host.lost(grant);
            grant.tellLost();
        });
    }

    /** A permit passed to another call of this process. */
    void handedOver(NameUse use) {
        if (passedTo == null) {
            passedTo = use;
        } else {
            run(() -> host.handedOver(use));
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
    }

    /**
     * The claim leaves first: its round trip is what callers wait for. Whatever one of them throws, the others happen: a
     * waiter that has its permit and is not woken would keep it for ever.
     */
    void runAll() {
        if (claim != null && sent != null) {
            try {
                host.send(claim, sent);
            } catch (RuntimeException | Error e) {
                failed(e);
            }
        }
        if (ended != null && outcome != null) {
            try {
                ended.wake(outcome);
            } catch (RuntimeException | Error e) {
                failed(e);
            }
        }
        if (passedTo != null) {
            try {
                host.handedOver(passedTo);
            } catch (RuntimeException | Error e) {
                failed(e);
            }
        }
        if (more != null) {
            more.forEach(Effects::runGuarded);
        }
    }

    private static void runGuarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    private static void failed(Throwable e) {
        LOG.log(
                System.Logger.Level.ERROR,
                "Something that follows from an event of a permit failed; the rest goes on",
                e);
    }
}
