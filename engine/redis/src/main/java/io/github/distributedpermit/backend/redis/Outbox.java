package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.StackRoom;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where claims leave from, several as one command. A command is filled only when the connection's own thread writes it, so
 * that a return and the call that follows it, or several calls woken by one answer, leave together, although each asked for
 * a command at once. While two commands are unanswered, the others wait for the next answer: it is the group commit of a
 * busy process, and costs an idle one nothing. Redis answers the commands of a connection in order, so no claim is answered
 * later for it. In a cluster, where a command is for one slot, each leaves alone and at once.
 *
 * <p>Callers' threads run this code, and one of them may be at the end of its stack or of the memory at any point of it. So
 * the state changes by assignments only, which need neither, and a batch whose sending was cut short is marked by one. The
 * next claim takes that batch out and fails its claims. Thread-safe.
 */
final class Outbox {

    /** Commands on their way at once: a call that comes while a return is unanswered need not wait for that. */
    private static final int WINDOW = 2;

    /** So that no command keeps Redis busy for long. */
    private static final int MOST = 64;

    private final Object lock = new Object();
    private final byte[] memberId;
    private final RedisSettings settings;
    private final Silence silence;

    /** Sent and not written yet: what comes goes with it. */
    private @Nullable Batch loading;

    /** The claim that asked for it. */
    private @Nullable ClaimCall madeFor;

    /** The waiting claims, linked: adding one allocates nothing. */
    private @Nullable ClaimCall first;

    private @Nullable ClaimCall last;

    /** The commands on their way. One that has ended is replaced by the next. */
    private final @Nullable Batch[] inFlight = new Batch[WINDOW];

    Outbox(byte[] memberId, RedisSettings settings, Silence silence) {
        this.memberId = memberId;
        this.settings = settings;
        this.silence = silence;
    }

    void send(ClaimCall claim, Attachment to) {
        // Lettuce counts the threads that write; one that an error took away would keep the connection from ever
        // closing.
        StackRoom.checkForClient();
        if (to.isCluster()) {
            oneByOne(List.of(claim), to);
        } else if (to.isDown()) {
            claim.refuse("Redis can't be reached: the connection is down");
        } else {
            synchronized (lock) {
                ClaimCall tail = last;
                if (tail == null) {
                    first = claim;
                } else {
                    tail.next = claim;
                }
                last = claim;
            }
            sendNext(to);
        }
    }

    /** Looks whether something waits that no answer will send, because a thread failed on its way. */
    void resume(Attachment to) {
        if (hasWork()) {
            sendNext(to);
        }
    }

    private boolean hasWork() {
        synchronized (lock) {
            if (first != null) {
                return true;
            }
            for (int i = 0; i < WINDOW; i++) {
                Batch batch = inFlight[i];
                if (batch != null && batch.abandoned) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * Sends what waits, as far as there are places. Where no command can be sent at all, one batch after the other ends at
     * once, and a loop does not care how many they are.
     */
    private void sendNext(Attachment to) {
        for (Batch batch = next(); batch != null; batch = next()) {
            Batch current = batch;
            boolean followed = false;
            try {
                current.send(to);
                if (current.isDone()) {
                    current.whenComplete(current::tell);
                } else {
                    current.whenComplete((views, failure) -> ended(current, views, failure, to));
                }
                followed = true;
            } finally {
                if (!followed) {
                    current.abandoned = true; // an assignment, for nothing else may be possible here
                }
            }
        }
    }

    private void ended(Batch batch, byte @Nullable [] views, @Nullable Throwable failure, Attachment to) {
        try {
            batch.claims(); // if it has failed unwritten
            sendNext(to);
        } finally {
            batch.tell(views, failure);
        }
    }

    void oneByOne(List<ClaimCall> claims, Attachment to) {
        for (ClaimCall claim : claims) {
            if (!claim.isDone()) {
                Batch alone = new Batch(this, silence);
                alone.fill(List.of(claim));
                alone.whenComplete(alone::tell);
                alone.send(to);
            }
        }
    }

    private @Nullable Batch next() {
        failAbandoned();
        synchronized (lock) {
            Batch unfilled = loading;
            if (unfilled != null && unfilled.isDone()) {
                load(List.of()); // it has ended before it could take claims, and the thread that ended it failed
            }
            if (loading == null) {
                dropDone();
            }
            int place = freePlace();
            if (loading != null || first == null || place < 0) {
                return null;
            }
            Batch batch = new Batch(this, silence);
            inFlight[place] = batch;
            madeFor = first;
            loading = batch;
            return batch;
        }
    }

    /** A place in the window, or -1. */
    private int freePlace() {
        for (int i = 0; i < WINDOW; i++) {
            Batch batch = inFlight[i];
            if (batch == null || batch.isDone()) {
                return i;
            }
        }
        return -1;
    }

    /** Ends batches whose sending was cut short. No command may exist for them, so that nothing else would end them. */
    private void failAbandoned() {
        for (int i = 0; i < WINDOW; i++) {
            Batch batch;
            synchronized (lock) {
                batch = inFlight[i];
                if (batch == null || !batch.abandoned) {
                    continue;
                }
                if (loading == batch) {
                    load(List.of()); // its claims still wait, and leave with another
                }
                inFlight[i] = null;
            }
            PermitStoreException failure = PermitStoreException.passing(
                    "The claim could not be sent: the sending thread failed with an error", null);
            batch.cancel(false);
            batch.filled().forEach(claim -> claim.completeExceptionally(failure));
        }
    }

    /** Fills a batch with what waits now, unless it is filled. */
    List<ClaimCall> fill(Batch batch) {
        synchronized (lock) {
            if (loading == batch && !batch.abandoned) {
                load(due());
            }
            return batch.filled();
        }
    }

    /** Fills one that has come to nothing, unless it is filled: the time of those that came later is not over. */
    void fillWithOldest(Batch batch) {
        synchronized (lock) {
            if (loading == batch) {
                ClaimCall oldest = poll();
                load(oldest == null ? List.of() : List.of(oldest));
            }
        }
    }

    /**
     * A claim that waited here was given up. A command that was made for it and has not been written all the while is given
     * up with it, and the others get a new one: Lettuce may have dropped it without a word.
     */
    void givenUp() {
        Batch unwritten;
        synchronized (lock) {
            unwritten = madeFor != null && madeFor.isDone() ? loading : null;
            if (unwritten != null) {
                load(List.of());
            }
        }
        if (unwritten != null) {
            unwritten.cancel(false);
        }
    }

    /** The connection is given up: fails what was sent and what waits. */
    void failAll(PermitStoreException why) {
        List<ClaimCall> claims = new ArrayList<>();
        synchronized (lock) {
            if (loading != null) {
                load(List.of());
            }
            for (ClaimCall claim = poll(); claim != null; claim = poll()) {
                claims.add(claim);
            }
            for (int i = 0; i < WINDOW; i++) {
                Batch batch = inFlight[i];
                if (batch != null) {
                    claims.addAll(batch.filled());
                }
            }
        }
        claims.forEach(claim -> claim.completeExceptionally(why));
    }

    private void load(List<ClaimCall> claims) {
        Batch batch = loading;
        loading = null;
        madeFor = null;
        if (batch != null) {
            batch.fill(claims);
        }
    }

    /** If all have been given up, one of them nevertheless: with it the command is given up as well. */
    private List<ClaimCall> due() {
        List<ClaimCall> due = new ArrayList<>();
        ClaimCall given = null;
        ClaimCall rest = first;
        for (; rest != null && due.size() < MOST; rest = rest.next) {
            given = rest;
            if (!rest.isDone()) {
                due.add(rest);
            }
        }
        List<ClaimCall> taken = due.isEmpty() && given != null ? List.of(given) : due;
        first = rest; // only now, for what is above may fail
        if (rest == null) {
            last = null;
        }
        return taken;
    }

    private void dropDone() {
        for (ClaimCall oldest = first; oldest != null && oldest.isDone(); oldest = first) {
            poll();
        }
    }

    private @Nullable ClaimCall poll() {
        ClaimCall oldest = first;
        if (oldest != null) {
            first = oldest.next;
            oldest.next = null;
            if (first == null) {
                last = null;
            }
        }
        return oldest;
    }

    byte[][] arguments(List<ClaimCall> claims, boolean cluster) {
        return new byte[][] {memberId, Wire.claims(claims, settings.tombstone(), cluster)};
    }
}
