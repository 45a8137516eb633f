package io.github.distributedpermit.core;

import org.jspecify.annotations.Nullable;

/**
 * Since when claims have been sent without an answer, for one key or for the whole member. Written under the lock of one
 * queue or, for the member, by many threads at once, which at worst delays what it finds by one claim. Times in
 * nanoseconds of the process, without those it stood still.
 */
final class Outage {

    /** A repetition is sent so much later than a failure at the latest, see {@link Backoff}. */
    private static final long LONGEST_PAUSE = Backoff.LONGEST;

    private static final long NEVER = LineState.NEVER;

    private final long memory;
    private volatile long since = NEVER;
    private volatile long failedAt;
    private volatile long answeredAt;
    private volatile @Nullable Throwable failure;

    Outage(long commandTimeout) {
        memory = commandTimeout + LONGEST_PAUSE;
    }

    /** A claim is sent. If it is the first for a while, what was known before is out of date. */
    void attempted(long now) {
        if (since == NEVER || now - Math.max(since, failedAt) > memory) {
            forget();
            since = now;
        }
    }

    /** A claim was answered, if only by a refusal. */
    void answered(long now) {
        answeredAt = now;
        if (since != NEVER) {
            since = NEVER;
            forget();
        }
    }

    private void forget() {
        if (failure != null) { // a volatile write costs more than a read
            failure = null;
        }
    }

    /** A claim sent then has failed, or was not answered within the command time-out. */
    void failed(Throwable cause, long sentAt, long now) {
        if (since == NEVER) {
            since = Math.max(sentAt, answeredAt);
        }
        failedAt = now;
        failure = cause;
    }

    /** The process stood still for so long, so that no answer could be received. */
    void skip(long length, long now) {
        long from = since;
        if (from != NEVER) {
            since = Math.min(now, from + length);
            failedAt = Math.min(now, failedAt + length);
        }
    }

    /** When it will have lasted for so long; {@link LineState#NEVER} if there is none. */
    long reaches(long length) {
        long from = since;
        return from == NEVER ? NEVER : from + length;
    }

    /** How long it lasts; 0 if there is none. */
    long length(long now) {
        long from = since;
        return from == NEVER ? 0 : now - from;
    }

    /** Whether it has lasted for so long, and a claim has failed just now. */
    boolean isKnown(long length, long now) {
        return failure != null && length(now) >= length && now - failedAt <= memory;
    }

    /** The last failure; {@code null} if none is known. */
    @Nullable
    Throwable failure() {
        return failure;
    }
}
