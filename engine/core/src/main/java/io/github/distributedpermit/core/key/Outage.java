package io.github.distributedpermit.core.key;

import org.jspecify.annotations.Nullable;

/**
 * Since when claims have been sent without an answer, for one key ({@link ClaimFailures}) or for the whole member
 * ({@link StoreContact}). Written under the lock of one queue or, for the member, by many threads at once: a lost update
 * delays the finding by one claim at worst, so the fields are volatile and no more. Times in which the process stood still
 * do not count.
 */
final class Outage {

    /** A claim is repeated this long after a failure at the latest, see {@link Backoff}. */
    private static final long LONGEST_PAUSE = Backoff.LONGEST;

    /** For how long a failure says something about the present. */
    private final long memory;

    /** When the first claim was sent that no answer has followed; {@link Times#NEVER} if the last claim was answered. */
    private volatile long since = Times.NEVER;

    private volatile long failedAt;
    private volatile long answeredAt = -1;
    private volatile @Nullable Throwable failure;

    Outage(long commandTimeout) {
        memory = commandTimeout + LONGEST_PAUSE;
    }

    /** A claim is sent. If it is the first for a while, what was known before is outdated. */
    void attempted(long now) {
        if (since == Times.NEVER || now - Math.max(since, failedAt) > memory) {
            forget();
            since = now;
        }
    }

    /** A claim was answered, even if by a refusal. */
    void answered(long now) {
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

    /** A claim that was sent at this time has failed, or was not answered within the command time-out. */
    void failed(Throwable cause, long sentAt, long now) {
        if (since == Times.NEVER) {
            since = Math.max(sentAt, answeredAt);
        }
        failedAt = now;
        failure = cause;
    }

    /** The process stood still for this long, so that it could not receive an answer. */
    void skip(long length, long now) {
        long from = since;
        if (from != Times.NEVER) {
            since = Math.min(now, from + length);
            failedAt = Math.min(now, failedAt + length);
        }
    }

    /** When it will have lasted for this long; {@link Times#NEVER} if there is none. */
    long reaches(long length) {
        long from = since;
        return from == Times.NEVER ? Times.NEVER : from + length;
    }

    /** How long it has lasted; 0 if there is none. */
    long length(long now) {
        long from = since;
        return from == Times.NEVER ? 0 : now - from;
    }

    /** Whether it has lasted for this long, and a claim has failed recently. */
    boolean isKnown(long length, long now) {
        return failure != null && length(now) >= length && now - failedAt <= memory;
    }

    /** When a claim was last answered; -1 if none was. */
    long answeredAt() {
        return answeredAt;
    }

    /** The last failure; {@code null} if none is known. */
    @Nullable
    Throwable failure() {
        return failure;
    }
}
