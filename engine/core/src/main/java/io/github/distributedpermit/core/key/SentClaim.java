package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PendingClaim;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A claim that was sent, until the store has confirmed it or a later one. It receives its own answer and passes it to the
 * queue of its key, which it knows as {@link Answers}. All fields but the stage are guarded by the lock of that queue.
 */
public final class SentClaim implements BiConsumer<@Nullable Holding, @Nullable Throwable> {

    final long sequence;
    final long at;
    /** The epoch of the store that the claim carries, see {@link Holding#epoch}. */
    final long epoch;

    final int limit;

    /** Whether the oldest call that it asks for has a head start. */
    final boolean ahead;

    /** What the claim left this member; lowered when older claims are merged into this one, see {@link SentClaims}. */
    int held;
    /** Whether an answer may still come: it was neither answered, nor did it fail or time out. */
    boolean inFlight = true;
    /** Whether an event has collected it for sending. If an error prevented that, the claim never leaves the process. */
    boolean collected;

    @Nullable
    SentClaim next;

    /** Start of the command time-out: when the claim was sent or written, or when the process resumed after a standstill. */
    private long clockFrom;

    private boolean restarted;

    /** Whether {@link #receiveAgain} runs, which an error may have the queue ask for once more. */
    private volatile boolean receiving;

    private final Answers answers;
    private volatile @Nullable CompletionStage<Holding> stage;

    SentClaim(Answers answers, long sequence, int limit, int held, boolean ahead, long at, long epoch) {
        this.limit = limit;
        this.ahead = ahead;
        this.epoch = epoch;
        this.answers = answers;
        this.sequence = sequence;
        this.held = held;
        this.at = at;
        this.clockFrom = at;
    }

    /**
     * Starts the command time-out again, because the process stood still until now and could not receive the answer. It does
     * so only once, so that a slow machine can't put off the time-out for ever.
     */
    void restart(long now) {
        if (!restarted) {
            restarted = true;
            clockFrom = now;
        }
    }

    /**
     * Whether the claim is overdue: it was written and not answered for a command time-out, or it was not written for a store
     * time-out. A claim that waits in the client, for a connection for example, is not yet the store's fault. Nor is one that a
     * thread of this process has not passed to the client yet, or whose answer no thread has passed on.
     */
    boolean isOverdue(long now, Policy policy) {
        if (now < overdueAt(policy)) {
            return false;
        }
        if (stage instanceof PendingClaim pending) {
            OptionalLong written = pending.writtenAtNanos();
            if (written.isPresent()) {
                clockFrom = Math.max(clockFrom, answers.time(written.getAsLong()));
            }
        }
        if ((stage == null || isAnswered() || isUnwritten()) && now - at < policy.storeTimeout()) {
            clockFrom = now;
        }
        return now >= overdueAt(policy);
    }

    /** Whether the client of the store has the claim and has not written it. */
    boolean isUnwritten() {
        return stage instanceof PendingClaim pending && pending.writtenAtNanos().isEmpty();
    }

    /** Whether the client has answered the claim, although the queue may not have received that. */
    boolean isAnswered() {
        return stage instanceof Future<?> future && future.isDone();
    }

    /** When the answer is overdue, as far as is known now. */
    long overdueAt(Policy policy) {
        return clockFrom + policy.commandTimeout();
    }

    /**
     * When to look whether the answer is overdue. A first look comes just before that: else nothing would be late enough to show a
     * standstill of the process that ends a moment after it.
     */
    long nextLook(long now, Policy policy) {
        long overdue = overdueAt(policy);
        long before = overdue - policy.shortestStandstill();
        return now < before ? before : overdue;
    }

    /** Whether the command time-out began after the claim was handed to the client. */
    boolean isDelayed() {
        return clockFrom > at;
    }

    /** Receives the answer when this stage completes. */
    public void follow(CompletionStage<Holding> answer) {
        stage = answer;
        answer.whenComplete(this);
    }

    /** Receives an answer once more that an error may have kept from the queue. Has no effect on a queue that knows it. */
    void receiveAgain() {
        CompletionStage<Holding> answer = stage;
        if (answer != null && !receiving) {
            receiving = true;
            try {
                answer.whenComplete(this);
            } finally {
                receiving = false;
            }
        }
    }

    @Override
    public void accept(@Nullable Holding holding, @Nullable Throwable failure) {
        if (holding != null) {
            answers.answered(sequence, holding);
        } else if (failure != null) {
            answers.failed(sequence, PermitStoreException.causeOf(failure));
        }
    }

    /** Lets the client drop the command: its answer is no longer awaited. */
    void cancel() {
        if (stage instanceof Future<?> future) {
            future.cancel(false);
        }
    }

    /** Lets the client drop the command unless it has written it: then the answer is of use, although the claim is too old. */
    void withdraw() {
        if (isUnwritten()) {
            cancel();
        }
    }

    /** Where answers go: the queue of the claim's key. */
    interface Answers {

        /** The store has answered the claim of this sequence. */
        void answered(long sequence, Holding holding);

        /** The claim of this sequence failed. */
        void failed(long sequence, Throwable cause);

        /** The time of the process' clock at this time of the ticker. */
        long time(long tickerNanos);
    }
}
