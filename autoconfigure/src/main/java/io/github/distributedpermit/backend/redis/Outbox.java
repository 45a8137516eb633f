package io.github.distributedpermit.backend.redis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Where claims leave from. One leaves at once while hardly any command is unanswered; those that come meanwhile leave
 * together with the next answer, as one command: it is the group commit of a busy process, and costs an idle one nothing.
 * Redis answers the commands of a connection in order, so no claim is answered later for it. In a cluster, where a command
 * is for one slot, each leaves alone and at once. Thread-safe.
 */
final class Outbox {

    /** Commands on their way at once: one thread that takes and returns, and need not wait for the answer to a return. */
    private static final int WINDOW = 2;

    /** So that no command keeps Redis busy for long. */
    private static final int MOST = 64;

    private final Deque<ClaimCall> waiting = new ArrayDeque<>();
    private final byte[] memberId;
    private final RedisSettings settings;
    private final Silence silence;
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
                if (inFlight >= WINDOW) {
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
        for (List<ClaimCall> due = next(); !due.isEmpty(); due = next()) {
            Batch batch = batch(due);
            batch.send(to);
            if (!batch.isDone()) {
                batch.whenComplete((views, failure) -> {
                    sendNext(to);
                    batch.tell(views, failure);
                });
                return;
            }
            batch.whenComplete(batch::tell);
        }
    }

    void oneByOne(List<ClaimCall> claims, Attachment to) {
        for (ClaimCall claim : claims) {
            if (!claim.isDone()) {
                Batch alone = batch(List.of(claim));
                alone.whenComplete(alone::tell);
                alone.send(to);
            }
        }
    }

    private List<ClaimCall> next() {
        synchronized (waiting) {
            List<ClaimCall> due = new ArrayList<>(Math.min(waiting.size(), MOST));
            while (due.size() < MOST && !waiting.isEmpty()) {
                ClaimCall claim = waiting.remove();
                if (!claim.isDone()) {
                    due.add(claim);
                }
            }
            if (due.isEmpty()) {
                inFlight--;
            }
            return due;
        }
    }

    private Batch batch(List<ClaimCall> claims) {
        return new Batch(claims, to -> arguments(claims, to), this, silence);
    }

    private byte[][] arguments(List<ClaimCall> claims, Attachment to) {
        return new byte[][] {memberId, Wire.claims(claims, settings.tombstone(), to.isCluster())};
    }
}
