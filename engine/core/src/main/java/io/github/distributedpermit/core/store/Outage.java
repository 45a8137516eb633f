package io.github.distributedpermit.core.store;

import io.github.distributedpermit.core.Times;
import org.jspecify.annotations.Nullable;

/**
 * Since when claims have been sent without an answer, for one key or, in the {@link StoreWatch}, for the whole member. It ends with an answer, and is out of date once it has not been {@linkplain #seen seen} for longer than a
 * claim that calls wait for may remain unnoticed. Written under the lock of one queue or, for the member, by many threads at once: a
 * lost update delays the finding by one claim at worst, so the fields are volatile and no more. Times in which the process stood
 * still do not count.
 */
public final class Outage {

    /** A claim is repeated this long after a failure at the latest. */
    public static final long LONGEST_PAUSE = 1_000_000_000L;

    /** How long an answer may take. */
    private final long commandTimeout;

    /** When the first claim was sent that no answer has followed; {@link Times#NEVER} if the last claim was answered. */
    private volatile long since = Times.NEVER;

    /** When it was last seen that a claim has no answer. */
    private volatile long seenAt;

    /** When a claim that may still be answered was last looked at, or sent after another one had failed. */
    private volatile long awaitedAt;

    private volatile long answeredAt = -1;
    private volatile @Nullable Throwable failure;

    public Outage(long commandTimeout) {
        this.commandTimeout = commandTimeout;
    }

    /** A claim is sent. If none was missing its answer for a while, what was known before is outdated. */
    public void attempted(long now) {
        if (since == Times.NEVER || !isRecent(now)) {
            forget();
            since = now;
        } else if (seenAt >= since) {
            awaitedAt = now;
        }
    }

    /** A claim was answered, even if by a refusal. */
    public void answered(long now) {
        answeredAt = now;
        if (since != Times.NEVER) {
            since = Times.NEVER;
            forget();
        }
    }

    private void forget() {
        if (failure != null) { // a volatile write costs more than a read
            failure = null;
        }
    }

    /**
     * A claim that was sent at this time has failed.
     *
     * @param cause {@code null} if it was not answered within the command time-out
     */
    public void failed(@Nullable Throwable cause, long sentAt, long now) {
        if (since == Times.NEVER) {
            since = Math.max(sentAt, answeredAt);
        }
        seenAt = now;
        if (cause != null) {
            failure = cause;
        }
    }

    /** A claim still has no answer, and need not have one yet: what is known is not out of date. */
    public void awaited(long now) {
        awaitedAt = now;
    }

    /** A claim has no answer that could have one. */
    public void seen(long now) {
        seenAt = now;
    }

    /** The process stood still for this long, so that it could not receive an answer. */
    public void skip(long length, long now) {
        long from = since;
        if (from != Times.NEVER) {
            since = Math.min(now, from + length);
            seenAt = Math.min(now, seenAt + length);
            awaitedAt = Math.min(now, awaitedAt + length);
        }
    }

    /** When it will have lasted for this long; {@link Times#NEVER} if there is none. */
    public long reaches(long length) {
        long from = since;
        return from == Times.NEVER ? Times.NEVER : from + length;
    }

    /** How long it has lasted; 0 if there is none. */
    public long length(long now) {
        long from = since;
        return from == Times.NEVER ? 0 : now - from;
    }

    /** Whether it has lasted for this long, and a claim was without an answer a moment ago. */
    public boolean isKnown(long length, long now) {
        return length(now) >= length && isRecent(now);
    }

    /**
     * Whether nothing has been answered for a command time-out, and a claim was found without its answer meanwhile. Time alone does
     * not show that: an answer may have arrived that the process has not read yet.
     */
    public boolean isSilence(long now) {
        return seenAt > since && isKnown(commandTimeout, now);
    }

    /** A claim that calls wait for is looked at once in a command time-out, and sent again a pause after it failed. */
    private boolean isRecent(long now) {
        return now - Math.max(since, Math.max(seenAt, awaitedAt)) <= commandTimeout + LONGEST_PAUSE;
    }

    /** When a claim was last answered; -1 if none was. */
    public long answeredAt() {
        return answeredAt;
    }

    /** The last failure that the store or its client has reported; {@code null} if none is known. */
    public @Nullable Throwable failure() {
        return failure;
    }
}
