package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PendingClaim;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** One claim on its way, and its answer. All but the stage is guarded by the lock of the line. */
final class SentClaim implements BiConsumer<@Nullable Holding, @Nullable Throwable> {

    final long sequence;
    final long at;
    int held;
    boolean inFlight = true;
    /** Whether an event has taken it along to hand it to the store. One that an error kept from that never leaves. */
    boolean leaves;

    @Nullable
    SentClaim next;

    /** When the command time-out began: when it was sent, or written, or when the process went on. */
    private long clockFrom;

    private boolean restarted;
    private final KeyLine line;
    private volatile @Nullable CompletionStage<Holding> stage;

    SentClaim(KeyLine line, long sequence, int held, long at) {
        this.line = line;
        this.sequence = sequence;
        this.held = held;
        this.at = at;
        this.clockFrom = at;
    }

    /** The process stood still until now. Only once, so that a slow machine can't put off the time-out for ever. */
    void restart(long now) {
        if (!restarted) {
            restarted = true;
            clockFrom = now;
        }
    }

    /** Whether the claim was written and not answered for a command time-out, or not even written for a store time-out. */
    boolean isOverdue(long now, Policy policy) {
        if (now < overdueAt(policy)) {
            return false;
        }
        if (stage instanceof PendingClaim pending) {
            OptionalLong written = pending.writtenAtNanos();
            if (written.isPresent()) {
                clockFrom = Math.max(clockFrom, line.host().time(written.getAsLong()));
            } else if (now - at < policy.storeTimeout()) {
                clockFrom = now;
            }
        }
        return now >= overdueAt(policy);
    }

    /** When the answer is overdue, as far as is known. */
    long overdueAt(Policy policy) {
        return clockFrom + policy.commandTimeout();
    }

    /** Whether the command time-out began later than the claim was sent. */
    boolean isDelayed() {
        return clockFrom > at;
    }

    /** For how long the store could have answered. */
    long age(long now) {
        return now - clockFrom;
    }

    void follow(CompletionStage<Holding> answer) {
        stage = answer;
        answer.whenComplete(this);
    }

    @Override
    public void accept(@Nullable Holding holding, @Nullable Throwable failure) {
        if (holding != null) {
            line.answered(sequence, holding);
        } else if (failure instanceof CompletionException wrapper && wrapper.getCause() != null) {
            line.failed(sequence, wrapper.getCause());
        } else if (failure != null) {
            line.failed(sequence, failure);
        }
    }

    /** Nobody waits for the answer any more, so the client need not keep the command for later. */
    void cancel() {
        if (stage instanceof Future<?> future) {
            future.cancel(false);
        }
    }
}
