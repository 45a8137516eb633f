package io.github.distributedpermit.backend.redis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where claims leave from, several as one command. A command is filled only when the connection's own thread writes it, so
 * that a return and the call that follows it, or several calls woken by one answer, leave together, although each asked for
 * a command at once. While two commands are unanswered, the others wait for the next answer: it is the group commit of a
 * busy process, and costs an idle one nothing. Redis answers the commands of a connection in order, so no claim is answered
 * later for it. In a cluster, where a command is for one slot, each leaves alone and at once. Thread-safe.
 */
final class Outbox {

    /** Commands on their way at once: a call that comes while a return is unanswered need not wait for that. */
    private static final int WINDOW = 2;

    /** So that no command keeps Redis busy for long. */
    private static final int MOST = 64;

    private final Deque<ClaimCall> waiting = new ArrayDeque<>();
    private final byte[] memberId;
    private final RedisSettings settings;
    private final Silence silence;

    /** Sent and not written yet: what comes goes with it. */
    private @Nullable Batch loading;

    /** The claim that asked for it. */
    private @Nullable ClaimCall madeFor;

    private int inFlight;

    Outbox(byte[] memberId, RedisSettings settings, Silence silence) {
        this.memberId = memberId;
        this.settings = settings;
        this.silence = silence;
    }

    void send(ClaimCall claim, Attachment to) {
        if (to.isCluster()) {
            oneByOne(List.of(claim), to);
        } else if (to.isDown()) {
            claim.refuse("Redis can't be reached: the connection is down");
        } else {
            synchronized (waiting) {
                waiting.add(claim);
                if (loading != null || inFlight >= WINDOW) {
                    return;
                }
                inFlight++;
            }
            sendNext(to);
        }
    }

    /**
     * Uses one place in the window, or leaves it if nobody waits. Where no command can be sent at all, one batch after the
     * other ends at once, and a loop does not care how many they are.
     */
    private void sendNext(Attachment to) {
        for (Batch batch = next(); batch != null; batch = next()) {
            batch.send(to);
            if (!batch.isDone()) {
                Batch sent = batch;
                sent.whenComplete((views, failure) -> {
                    sent.claims(); // if it has failed unwritten
                    sendNext(to);
                    sent.tell(views, failure);
                });
                return;
            }
            batch.whenComplete(batch::tell);
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
        synchronized (waiting) {
            if (loading == null) {
                dropDone();
            }
            if (loading != null || waiting.isEmpty()) {
                inFlight--;
                return null;
            }
            loading = new Batch(this, silence);
            madeFor = waiting.peek();
            return loading;
        }
    }

    /** Fills a batch with what waits now, unless it is filled. */
    List<ClaimCall> fill(Batch batch) {
        synchronized (waiting) {
            if (loading == batch) {
                load(due());
            }
            return batch.filled();
        }
    }

    /** Fills one that has come to nothing, unless it is filled: the time of those that came later is not over. */
    void fillWithOldest(Batch batch) {
        synchronized (waiting) {
            if (loading == batch) {
                ClaimCall oldest = waiting.poll();
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
        synchronized (waiting) {
            unwritten = madeFor != null && madeFor.isDone() ? loading : null;
            if (unwritten != null) {
                load(List.of());
            }
        }
        if (unwritten != null) {
            unwritten.cancel(false);
        }
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
        List<ClaimCall> due = new ArrayList<>(Math.min(waiting.size(), MOST));
        ClaimCall last = null;
        while (due.size() < MOST && !waiting.isEmpty()) {
            last = waiting.remove();
            if (!last.isDone()) {
                due.add(last);
            }
        }
        return due.isEmpty() && last != null ? List.of(last) : due;
    }

    private void dropDone() {
        for (ClaimCall first = waiting.peek(); first != null && first.isDone(); first = waiting.peek()) {
            waiting.remove();
        }
    }

    byte[][] arguments(List<ClaimCall> claims, boolean cluster) {
        return new byte[][] {memberId, Wire.claims(claims, settings.tombstone(), cluster)};
    }
}
