package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.StackRoom;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends the claims of one connection, several of them in one command if they come at the same time. The steps of a claim are
 * the methods of this class from top to bottom: {@link #enqueueClaim}, {@link #sendBatches}, {@link #fillBatch},
 * {@link #endBatch}.
 *
 * <p>A <em>batch</em> is the claims of one command. It is passed to Lettuce with the first of them, but its content is fixed
 * only when Lettuce's thread writes the command. So all claims that arrive until then join it: the claims of several calls
 * that one answer has woken, and a claim that follows a return of the same key, with which it becomes one claim. While
 * {@value #WINDOW} commands are unanswered, further claims wait for the next answer, for a round trip at most if Redis is not
 * busy, and are then sent together. This is a group commit: it saves a busy process commands, and causes no wait in an idle
 * one. In a cluster all keys of a command must be in one slot, so there each claim is sent alone and at once.
 *
 * <p>Thread-safe. The threads of callers run this code, and each of them may run out of stack or memory at any point of
 * it. So the state is changed by assignments as far as possible, because these need neither, and a batch whose sending failed
 * is marked by an assignment. The next look at the window removes that batch and fails its claims: with the next claim, the
 * next answer, or the next check of the connection.
 */
final class ClaimPipeline implements ClaimCall.Carrier {

    /** The most commands in flight. With 2 a claim need not wait for the answer to a return that was sent before it. */
    static final int WINDOW = 2;

    /** The most claims in one command, so that no command blocks Redis for long. */
    private static final int MAX_CLAIMS = 64;

    private final Object lock = new Object();
    private final SharedConnection connection;
    private final byte[] memberId;
    private final Duration tombstone;
    private final KnownEpochs epochs;
    private final LineageNames lineages;
    /** {@code null} if members ask for no grace. */
    private final @Nullable Duration newServerGrace;

    /** {@code null} if answers count without a replica. */
    private final @Nullable ReplicaWait wait;

    private final LongSupplier ticker;

    /**
     * The highest sequence in a batch of the member, of any key and over any connection. Claims in a cluster are not counted:
     * they are sent alone, and none replaces another.
     */
    private final AtomicLong highestSent;

    private final AtomicBoolean closing = new AtomicBoolean();

    /** The claims that are in no batch yet. */
    private final ClaimQueue queue = new ClaimQueue();

    /** The batch whose command is not written yet. Claims that arrive until then are sent with it. */
    private @Nullable ClaimBatch unfilled;

    /** The oldest claim in the queue when the unfilled batch was made, see {@link #claimCancelled}. */
    private @Nullable ClaimCall madeFor;

    /** The window: the batches without an answer. The next batch takes the place of one that has ended. */
    private final @Nullable ClaimBatch[] inFlight = new ClaimBatch[WINDOW];

    /**
     * Creates the pipeline of a connection.
     *
     * @param settings prefix and times
     * @param epochs the epochs that the member has received, also over earlier connections
     * @param highestSent the highest sequence that a batch of the member has had; all its pipelines share it
     * @param ticker the monotonic clock of the core, nanoseconds
     */
    ClaimPipeline(
            SharedConnection connection,
            byte[] memberId,
            RedisSettings settings,
            @Nullable ReplicaWait wait,
            KnownEpochs epochs,
            AtomicLong highestSent,
            LongSupplier ticker) {
        this.connection = connection;
        this.memberId = memberId;
        this.tombstone = settings.tombstone();
        this.epochs = epochs;
        this.highestSent = highestSent;
        this.lineages = new LineageNames(settings.prefix());
        this.newServerGrace = settings.grace() ? settings.newServerGrace() : null;
        this.wait = wait;
        this.ticker = ticker;
    }

    SharedConnection connection() {
        return connection;
    }

    /** Accepts a claim. It is sent at once, or with the next answer. */
    void enqueueClaim(ClaimCall claim) {
        if (claim.isDone()) {
            return;
        }
        claim.waitIn(this);
        // Throws here if the stack is nearly full. Lettuce counts the threads that write: if an error ended one of them
        // inside Lettuce, the count would stay too high, and the connection would never close.
        StackRoom.checkForClient();
        if (connection.isCluster()) {
            sendEachAlone(List.of(claim));
        } else if (connection.isDown() || !append(claim)) {
            claim.failUnsent("Redis can't be reached: the connection is down");
        } else {
            sendBatches();
        }
    }

    /**
     * Puts the claim into the queue, unless the connection was given up meanwhile. {@link #retire} marks the connection before it
     * empties the queue under the same lock, so that it either finds the claim or has the claim refused here.
     */
    private boolean append(ClaimCall claim) {
        synchronized (lock) {
            if (connection.isRetired()) {
                return false;
            }
            queue.append(claim);
            return true;
        }
    }

    /**
     * Sends batches while claims wait and the window has a free place. If no command can be sent, every batch ends at once and
     * makes place for the next one. Therefore this is a loop: a recursion would need a stack frame for each batch.
     */
    private void sendBatches() {
        for (ClaimBatch batch = reserveBatch(); batch != null; batch = reserveBatch()) {
            sendBatch(batch);
        }
    }

    /** Reserves a place for a new batch; null if no claim waits, the window is full or an unfilled batch exists. */
    private @Nullable ClaimBatch reserveBatch() {
        failAbandonedBatches();
        synchronized (lock) {
            ClaimBatch open = unfilled;
            if (open != null && open.isDone()) {
                fillUnfilled(List.of()); // it ended without claims, and an error kept it from being cleared
            }
            if (unfilled == null) {
                queue.dropDone();
            }
            int place = freePlace();
            if (unfilled != null || queue.peek() == null || place < 0) {
                return null;
            }
            ClaimBatch batch = new ClaimBatch(this);
            inFlight[place] = batch;
            madeFor = queue.peek();
            unfilled = batch;
            return batch;
        }
    }

    /** The index of a free place in the window, or -1. */
    private int freePlace() {
        for (int i = 0; i < WINDOW; i++) {
            ClaimBatch batch = inFlight[i];
            if (batch == null || batch.isDone()) {
                return i;
            }
        }
        return -1;
    }

    private void sendBatch(ClaimBatch batch) {
        boolean followed = false;
        try {
            batch.sendOver(connection);
            if (batch.isDone()) {
                batch.whenComplete(batch::completeClaims);
            } else {
                batch.whenComplete((views, failure) -> endBatch(batch, views, failure));
            }
            followed = true;
        } finally {
            if (!followed) {
                batch.abandoned = true; // only an assignment: a call could fail with the same error
            }
        }
    }

    /**
     * Fixes the content of a batch: the claims that wait now, at most {@value #MAX_CLAIMS}. Called on Lettuce's thread when it
     * writes the command.
     */
    List<ClaimCall> fillBatch(ClaimBatch batch) {
        synchronized (lock) {
            if (unfilled == batch && !batch.abandoned) {
                List<ClaimCall> claims = queue.pollBatch(MAX_CLAIMS, highestSent.get());
                long highest = highestSent.get();
                for (ClaimCall claim : claims) {
                    highest = Math.max(highest, claim.claim.sequence());
                }
                highestSent.accumulateAndGet(highest, Math::max); // another pipeline of the member may send as well
                fillUnfilled(claims);
            }
            return batch.filled();
        }
    }

    private void fillUnfilled(List<ClaimCall> claims) {
        ClaimBatch batch = unfilled;
        unfilled = null;
        madeFor = null;
        if (batch != null) {
            batch.fill(claims, ticker.getAsLong());
        }
    }

    /** The arguments of a command with these claims. */
    byte[][] packArguments(List<ClaimCall> claims) {
        Duration grace = connection.showsEpochs ? newServerGrace : null;
        byte[] packed = ClaimCodec.packClaims(
                claims,
                tombstone,
                connection.isCluster(),
                call -> grace == null ? 0 : epochs.epochFor(call, connection.node(call.key), slot(call)));
        return grace == null
                ? new byte[][] {memberId, packed}
                : new byte[][] {memberId, packed, ClaimCodec.packGrace(grace, epochs.longestLease())};
    }

    private boolean asksForGrace() {
        return newServerGrace != null;
    }

    /** Sends what has to confirm a command before its answer counts; {@code null} if that counts at once. */
    @Nullable
    CompletableFuture<Void> confirm(SharedConnection to) {
        return wait == null ? null : wait.sendOver(to);
    }

    /** The name of the lineage that belongs to the names of this key; {@code null} if the member asks for no grace. */
    byte @Nullable [] lineageName(RedisKey key) {
        return asksForGrace() ? lineages.of(key, connection.isCluster()) : null;
    }

    /**
     * A claim was answered.
     *
     * @param longestLease of any member, in microseconds; 0 if the answer does not say
     */
    void received(ClaimCall call, Holding answer, long longestLease) {
        if (answer.epoch() != 0) { // not without a grace
            epochs.received(answer.epoch(), connection.node(call.key), slot(call));
            epochs.received(longestLease);
        }
    }

    private int slot(ClaimCall call) {
        return connection.isCluster() ? SlotHash.getSlot(call.key.state()) : KnownEpochs.NO_SLOT;
    }

    /** Sends the claims that waited for a free place in the window, then completes the claims of the batch. */
    private void endBatch(ClaimBatch batch, byte @Nullable [] views, @Nullable Throwable failure) {
        try {
            batch.claims(); // fills a batch that failed before it was written
            sendBatches();
        } finally {
            batch.completeClaims(views, failure);
        }
    }

    /**
     * Puts one claim into a batch that failed before it was written, for example by Lettuce's command time-out. That claim fails
     * with the batch. The claims behind it have waited for a shorter time and go into the next batch.
     */
    void fillBatchWithOldest(ClaimBatch batch) {
        synchronized (lock) {
            if (unfilled == batch) {
                ClaimCall oldest = queue.poll();
                fillUnfilled(oldest == null ? List.of() : List.of(oldest));
            }
        }
    }

    /** All of them wait for a replica together: a wait behind each would block the connection for as many round trips. */
    void sendEachAlone(List<ClaimCall> claims) {
        CompletableFuture<Void> confirmation = wait == null ? null : new CompletableFuture<>();
        try {
            for (ClaimCall claim : claims) {
                if (!claim.isDone()) {
                    ClaimBatch alone = new ClaimBatch(this, confirmation);
                    alone.fill(List.of(claim), ticker.getAsLong());
                    alone.whenComplete(alone::completeClaims);
                    alone.sendOver(connection);
                }
            }
        } finally {
            if (wait != null && confirmation != null) {
                wait.sendOver(connection, confirmation);
            }
        }
    }

    /**
     * A claim in the queue was cancelled, by the core after a time-out for example. If the unfilled batch was made for it,
     * Lettuce may have dropped the command of that batch without a notification. So the batch is cancelled as well; its end
     * sends the other claims in a new one.
     */
    @Override
    public void claimCancelled() {
        ClaimBatch unwritten;
        synchronized (lock) {
            unwritten = madeFor != null && madeFor.isDone() ? unfilled : null;
            if (unwritten != null) {
                fillUnfilled(List.of());
            }
        }
        if (unwritten != null) {
            unwritten.cancel(false);
        }
    }

    /**
     * Sends claims that no answer will send, because an error ended the thread that should have sent them. Called with each check
     * of the connection.
     */
    void resumeSending() {
        if (needsSending()) {
            sendBatches();
        }
    }

    private boolean needsSending() {
        synchronized (lock) {
            if (queue.peek() != null) {
                return true;
            }
            for (int i = 0; i < WINDOW; i++) {
                ClaimBatch batch = inFlight[i];
                if (batch != null && batch.abandoned) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * Ends the batches whose sending failed with an error. Such a batch may have no command, and then no answer ends it.
     */
    private void failAbandonedBatches() {
        for (int i = 0; i < WINDOW; i++) {
            ClaimBatch batch;
            synchronized (lock) {
                batch = inFlight[i];
                if (batch == null || !batch.abandoned) {
                    continue;
                }
                if (unfilled == batch) {
                    fillUnfilled(List.of()); // its claims are still in the queue and are sent in another batch
                }
                inFlight[i] = null;
            }
            PermitStoreException failure = PermitStoreException.passing(
                    "The claim could not be sent: the sending thread failed with an error", null);
            batch.cancel(false);
            batch.filled().forEach(claim -> claim.completeExceptionally(failure));
        }
    }

    /**
     * The server was replaced as the master: makes it refuse claims, once, and gives up the connection. Only with a grace. If an
     * error keeps the request from being sent, a later call sends it.
     *
     * @param vote the config-epoch with which the Sentinels have made another server the master
     */
    void closeServer(long vote) {
        long epoch = epochs.epoch();
        if (asksForGrace() && epoch != 0 && !closing.getAndSet(true)) {
            boolean sent = false;
            try {
                CompletableFuture<?> closed = FormerMaster.close(connection, lineages.single(), epoch, vote);
                sent = true;
                connection.retireAfter(closed);
            } finally {
                if (!sent) {
                    closing.set(false);
                }
            }
        }
    }

    /** The server refuses claims as a former master, and this vote of the Sentinels has made it the master again. */
    void openServer(long vote) {
        FormerMaster.open(connection, lineages.single(), vote);
    }

    /** Gives up the connection, and fails all claims that are queued or in flight. */
    void retire(PermitStoreException why) {
        connection.retire();
        List<ClaimCall> claims = new ArrayList<>();
        synchronized (lock) {
            if (unfilled != null) {
                fillUnfilled(List.of());
            }
            for (ClaimCall claim = queue.poll(); claim != null; claim = queue.poll()) {
                claims.add(claim);
            }
            for (int i = 0; i < WINDOW; i++) {
                ClaimBatch batch = inFlight[i];
                if (batch != null) {
                    claims.addAll(batch.filled());
                }
            }
        }
        claims.forEach(claim -> claim.completeExceptionally(why));
    }
}
