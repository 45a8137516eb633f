package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.Times;
import io.github.distributedpermit.core.key.KeyQueueHost;
import io.github.distributedpermit.core.store.StoreWatch;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts the instances that need a share of the limits during an outage. Each of them holds one permit of a common key, and
 * reads three times per lease which others do. All instances order each other by their ids, so that they divide a limit without
 * talking to each other: the shares of instances that know the same others together are the limit. Nothing is sent before the
 * first permit needs it. Thread-safe; its lock is never held while calling the store.
 */
final class Instances {

    /** The key of which each instance holds one permit. */
    static final String KEY = "distributed-permit.instances";

    private static final long ALWAYS = Long.MIN_VALUE;

    private final String self;
    private final KeyQueueHost host;
    private final StoreWatch watch;
    private final Supplier<PermitStore> store;
    private final int limit;
    private final Duration lease;
    private final long commandTimeout;
    private final long interval;

    /** When each instance was last seen. One that is missing once may only have to record itself again. */
    private final Map<String, Long> seen = new HashMap<>();

    private volatile List<String> known = List.of();
    private Scheduler.@Nullable Timer timer;
    private boolean closed;
    private long unansweredSince = Long.MIN_VALUE;
    /** Since when every look was answered. Only then could the others record themselves in time, so that their absence means anything. */
    private long answeredSince = ALWAYS;

    private volatile boolean started;
    /** An error has kept the next look from being scheduled: the store may have forgotten this instance since. */
    private volatile boolean cutShort;

    /**
     * @param self the id of this member
     * @param store is asked for the store once it has been joined
     * @param limit the highest limit of a key of this store
     */
    Instances(String self, KeyQueueHost host, Supplier<PermitStore> store, int limit, CoreSettings settings) {
        this.self = self;
        this.host = host;
        this.watch = host.watch();
        this.store = store;
        this.limit = limit;
        this.lease = settings.lease();
        this.commandTimeout = settings.commandTimeout().toNanos();
        this.interval = settings.lease().toNanos() / 3;
    }

    /** Begins. Has no effect the second time. */
    void start() {
        if (!started) {
            begin();
        }
    }

    /** Begins again if an error has ended the counting. */
    void resume() {
        if (cutShort) {
            begin();
        }
    }

    private synchronized void begin() {
        if (closed || (started && !cutShort)) {
            return;
        }
        timer = host.scheduler().schedule(this::look, 0);
        started = true;
        if (cutShort) {
            known = List.of(); // others may have divided the limit without this instance until they see it again
            cutShort = false;
        }
    }

    /** Leaves the others their larger shares. What is still on its way can't bring this instance back. */
    void close() {
        long sequence;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (!started) {
                return;
            }
            if (timer != null) {
                timer.cancel();
            }
            sequence = host.nextSequence();
        }
        // a claim that was sent before and arrives later has a lower sequence, so the store ignores it
        claim(sequence, 0);
    }

    /** How many instances are known, with this one; 0 if the store has never said. */
    int count() {
        return known.size();
    }

    /**
     * How many permits of a key this instance may grant. What can't be divided goes to some of the instances, other ones
     * for other keys. None while an error has ended the counting.
     */
    int share(String key, int limitOfKey) {
        List<String> all = known;
        int index = all.indexOf(self);
        if (index < 0 || cutShort) {
            return 0;
        }
        return share(index, all.size(), key.hashCode(), limitOfKey);
    }

    /** The shares of all instances together are the limit. */
    static int share(int index, int instances, int hashOfKey, int limitOfKey) {
        int rank = (index + Math.floorMod(hashOfKey, instances)) % instances;
        return limitOfKey / instances + (rank < limitOfKey % instances ? 1 : 0);
    }

    private void look() {
        long now = host.now();
        long sequence;
        long late;
        synchronized (this) {
            if (closed) {
                return;
            }
            try {
                timer = host.scheduler().schedule(this::look, interval);
            } catch (RuntimeException | Error e) {
                cutShort = true;
                throw e;
            }
            late = unansweredSince;
            if (late != Long.MIN_VALUE) {
                answeredSince = Times.NEVER;
            }
            unansweredSince = now;
            sequence = host.nextSequence();
        }
        // a claim that is older than that was sent before the process stood still, and says nothing about the store
        boolean recent = now - late < interval + commandTimeout;
        if (late != Long.MIN_VALUE && now - late >= commandTimeout && recent) {
            watch.failed(null, late, now, Runnable::run);
        }
        watch.asked(now);
        CompletionStage<KeyState> state =
                claim(sequence, 1).thenCompose(holding -> store.get().inspect(KEY));
        state.whenComplete((read, failure) -> answered(read, failure, now));
    }

    private CompletionStage<Holding> claim(long sequence, int held) {
        try {
            return store.get()
                    .claim(Claim.of(KEY, sequence, lease)
                            .limit(limit)
                            .wanted(held)
                            .reclaim(held > 0 ? Claim.Reclaim.of(held, 0).checking() : Claim.Reclaim.NOTHING));
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void answered(@Nullable KeyState state, @Nullable Throwable failure, long sentAt) {
        long now = host.now();
        synchronized (this) {
            if (closed) {
                return;
            }
            if (unansweredSince == sentAt) {
                unansweredSince = Long.MIN_VALUE;
            }
            if (state != null) {
                note(state, now);
            } else {
                answeredSince = Times.NEVER;
            }
        }
        if (state != null) {
            if (now - sentAt < commandTimeout) { // a later answer is none, as for the claims of calls
                watch.answered(now, Runnable::run);
            }
        } else if (failure != null) {
            watch.failed(PermitStoreException.causeOf(failure), sentAt, now, Runnable::run);
        }
    }

    /**
     * A store that answers for a moment within an outage does not show who is there: their records have expired, and they could not
     * renew them. So an instance is dropped only if it was not seen for a lease in which the store answered, and one that began in an
     * outage knows the others only when it has looked again.
     */
    private void note(KeyState state, long now) {
        if (answeredSince == Times.NEVER) {
            answeredSince = now;
        }
        long from = answeredSince;
        for (MemberState member : state.members()) {
            if (member.permits() > 0) {
                seen.put(member.member(), now);
            }
        }
        seen.values().removeIf(at -> now - Math.max(at, from) > lease.toNanos());
        boolean complete = !known.isEmpty() || from == ALWAYS || now - from >= interval;
        if (seen.containsKey(self) && complete) {
            known = seen.keySet().stream().sorted().toList();
        }
    }
}
