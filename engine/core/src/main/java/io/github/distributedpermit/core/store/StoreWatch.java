package io.github.distributedpermit.core.store;

import io.github.distributedpermit.core.Times;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What the claims of all keys together, and probes, show about the store. Whether it answers is a matter of the store, not of one key:
 * so a call of a key that was never used before need not find out by itself that the store does not answer, and a claim that is lost
 * while others are answered shows nothing. The store is
 *
 * <ul>
 *   <li><em>silent</em> if it has not answered anything for a command time-out although it was asked ({@link #isSilent}),
 *   <li><em>reported</em> as not answering, to operators, when a claim fails and the first one that failed was sent a second ago or more: a
 *       lost connection that is replaced at once is no outage ({@link #isReported}),
 *   <li><em>bypassed</em> from when calls begin to run without it until it has answered probes for a while without a failure, so that
 *       calls do not alternate between the store and the instance ({@link #isBypassed}).
 * </ul>
 *
 * <p>Thread-safe. An answer while the store is well costs a few volatile reads. What has to happen without a lock is passed to the
 * {@link Executor} of the caller.
 */
public final class StoreWatch {

    /** While calls fail at once, one claim in this many nanoseconds finds out whether the store answers again. */
    private static final long BETWEEN_TRIES = 500_000_000L;

    /** A shorter outage is not reported. */
    private static final long LEAST = 1_000_000_000L;

    /**
     * Failures are further apart than this only if nothing asked the store between them, such as a health check. An instance that asked
     * nothing does not know whether the store was away all the time.
     */
    private static final long APART = 120_000_000_000L;

    private final long commandTimeout;
    private final StoreLog log;
    private final Runnable askStore;
    private final Outage outage;
    private final Slowness slowness;
    private final AtomicLong lastTry = new AtomicLong(Long.MIN_VALUE / 2);

    private volatile long failingSince = Times.NEVER;
    /** When a claim last failed; guarded by this. */
    private long failedAt;

    private volatile boolean reported;

    private volatile long bypassedSince = Times.NEVER;
    /** Since when probes are answered during the bypass; guarded by this. */
    private long answeringSince = Times.NEVER;

    /** Guarded by this. */
    private final Standstill standstill = new Standstill();

    private volatile long resumedAt;

    /** @param askStore has the store asked until it is neither reported nor bypassed, so that no call has to come for that */
    public StoreWatch(long commandTimeout, StoreLog log, Runnable askStore) {
        this.commandTimeout = commandTimeout;
        this.log = log;
        this.askStore = askStore;
        this.outage = new Outage(commandTimeout);
        this.slowness = new Slowness(commandTimeout, log);
    }

    /** Since when no claim of any key has been answered. */
    public Outage outage() {
        return outage;
    }

    /** A claim is sent. */
    public void asked(long now) {
        outage.attempted(now);
    }

    /** A claim was answered, even if by a refusal. */
    public void answered(long now, Executor unlocked) {
        outage.answered(now);
        endReport(now, unlocked);
    }

    /** A claim of calls was answered in time, after so many nanoseconds. */
    public void took(long nanos, long now, Executor unlocked) {
        slowness.took(nanos, now, unlocked);
    }

    /**
     * A claim of calls was not answered in time, after so many nanoseconds: slower than any answer. While it is reported that nothing is
     * answered, that is said already.
     */
    public void timedOut(long nanos, long now, Executor unlocked) {
        if (!reported) {
            slowness.took(nanos, now, unlocked);
        }
    }

    /** How long claims take, in nanoseconds, if the store answers slowly; else 0. */
    public long slow(long now) {
        return slowness.now(now);
    }

    /**
     * A claim that was sent at this time has failed.
     *
     * @param cause {@code null} if it was not answered within the command time-out; a refusal is an answer
     * @return whether the store did not answer
     */
    public boolean failed(@Nullable Throwable cause, long sentAt, long now, Executor unlocked) {
        if (cause instanceof PermitStoreException answer && answer.isAnswer()) {
            answered(now, unlocked);
            if (answer.isPermanent()) {
                unlocked.execute(() -> log.refuses(answer, now));
            }
            return false;
        }
        outage.failed(cause, sentAt, now);
        if (cause != null || outage.isSilence(now)) { // a single claim may be lost while others are answered
            report(cause == null ? unanswered() : cause, sentAt, now, unlocked);
        }
        return true;
    }

    /** A health check that was sent at this time was answered, or has failed. An instance without calls learns of an outage from these only. */
    public void checked(@Nullable Throwable failure, long sentAt, long now) {
        if (failure == null) {
            took(now - sentAt, now, Runnable::run);
            if (now - sentAt <= commandTimeout) { // a later answer ends no outage that the next claim would begin again
                endReport(now, Runnable::run);
            }
        } else {
            report(PermitStoreException.causeOf(failure), sentAt, now, Runnable::run);
        }
    }

    private void report(Throwable cause, long sentAt, long now, Executor unlocked) {
        long lasted;
        synchronized (this) {
            if (failingSince == Times.NEVER || (!reported && sentAt - failedAt > APART)) {
                failingSince = Math.max(sentAt, outage.answeredAt());
            }
            failedAt = now;
            lasted = now - failingSince;
            if (reported || lasted < LEAST) {
                return;
            }
            reported = true;
        }
        unlocked.execute(() -> {
            askStore.run();
            log.fails(cause, lasted); // last, because a log may throw
        });
    }

    private void endReport(long now, Executor unlocked) {
        if (failingSince == Times.NEVER) {
            return;
        }
        long lasted;
        synchronized (this) {
            lasted = reported ? Math.max(1, now - failingSince) : 0;
            failingSince = Times.NEVER;
            reported = false;
        }
        if (lasted > 0) {
            unlocked.execute(() -> log.answers(lasted));
        }
    }

    /** Why a claim failed that was not answered in time. */
    public PermitStoreException unanswered() {
        return PermitStoreException.passing(
                "no answer within the command time-out of " + commandTimeout / 1_000_000 + " ms", null);
    }

    /** Whether the store has not answered anything for a command time-out although it was asked. */
    public boolean isSilent(long now) {
        return outage.isSilence(now) || reported;
    }

    /** Whether the log and the gauges show that the store does not answer. */
    public boolean isReported() {
        return reported;
    }

    /** Whether one more claim may be sent only to find out whether the store answers again. */
    public boolean mayTryAgain(long now) {
        long last = lastTry.get();
        return now - last >= BETWEEN_TRIES && lastTry.compareAndSet(last, now);
    }

    /** Whether calls run without the store now. */
    public boolean isBypassed() {
        return bypassedSince != Times.NEVER;
    }

    /** How long calls have been running without the store, and it had not answered before; 0 if they do not. */
    public long bypassed(long now) {
        long from = bypassedSince;
        return from == Times.NEVER ? 0 : now - from;
    }

    /** Whether calls may run without the store from now on, because it has not answered for this long. */
    public boolean bypass(long storeTimeout, long now, Executor unlocked) {
        if (!isBypassed() || bypassed(now) < storeTimeout) {
            if (!outage.isKnown(storeTimeout, now)) {
                return false;
            }
            beginBypass(now - outage.length(now));
        }
        askStore(unlocked);
        return true;
    }

    /** Has the store asked whether it answers again. Has no effect while that goes on. */
    public void askStore(Executor unlocked) {
        unlocked.execute(askStore);
    }

    synchronized void beginBypass(long from) {
        if (bypassedSince == Times.NEVER) {
            answeringSince = Times.NEVER;
            bypassedSince = from;
        }
    }

    /** A probe is sent. */
    void probed(long now) {
        if (isBypassed()) {
            asked(now);
        }
    }

    /**
     * A probe failed, or was not answered in time: then without a cause. Calls that do not run without the store are not affected by
     * that: they fail at once only if claims of calls have failed lately.
     *
     * @return whether the store did not answer
     */
    boolean probeFailed(@Nullable Throwable cause, long sentAt, long now) {
        boolean silent = isBypassed()
                ? failed(cause, sentAt, now, Runnable::run)
                : !(cause instanceof PermitStoreException refusal && refusal.isPermanent());
        if (silent) {
            synchronized (this) {
                answeringSince = Times.NEVER;
            }
        }
        return silent;
    }

    /**
     * A probe that was sent at this time was answered in time. It ends the bypass if it was sent after the store had answered for a
     * command time-out, since an earlier one does not show that the store answers now.
     *
     * @return how long the bypass lasted, if it ends now; else 0
     */
    long probeAnswered(long sentAt, long now) {
        answered(now, Runnable::run);
        synchronized (this) {
            long lasted = bypassed(now);
            if (isBypassed() && answeringSince == Times.NEVER) {
                answeringSince = now;
            } else if (isBypassed() && sentAt - answeringSince >= commandTimeout) {
                bypassedSince = Times.NEVER;
                return lasted;
            }
            return 0;
        }
    }

    /** When the process resumed after it stood still; 0 if it never did. */
    public long resumedAt() {
        return resumedAt;
    }

    /** The process stood still until now. Each key reports what it has noticed, so that only what is new is counted. */
    public synchronized void stoodStill(long from, long now) {
        long length = standstill.unknown(from, now);
        standstill.note(from, now);
        resumedAt = now;
        outage.skip(length, now);
        if (failingSince != Times.NEVER) {
            failingSince = Math.min(now, failingSince + length);
        }
    }
}
