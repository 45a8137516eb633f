package io.github.distributedpermit.core.store;

import io.github.distributedpermit.core.Times;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Whether the store answers slowly: half of its answers in five seconds, and the last of them, took a quarter of the command time-out or
 * longer. So neither a single slow answer nor a pause of this process counts. It ends when, for half a minute, most answers of each five
 * seconds took less than half of that: so a store on the verge is slow all the time, and not again and again. While the store is quick, an
 * answer costs one volatile read. Thread-safe.
 */
final class Slowness {

    private static final long WINDOW = 5_000_000_000L;

    /** For how long it has to be quick before it is no longer slow. */
    private static final long RECOVERY = 30_000_000_000L;

    /** Fewer answers show nothing, however long they take to come. */
    private static final int LEAST = 3;

    /** Without an answer for so long, what was known before is outdated. */
    private static final long OUTDATED = 60_000_000_000L;

    private final long bound;
    private final StoreLog log;

    /** Whether answers are counted: from a slow one on, until a window has shown that the store is quick. */
    private volatile boolean counting;

    /** Since when the store is slow; {@link Times#NEVER} if it is not. */
    private volatile long since = Times.NEVER;

    /** How long the answers of the last window took on average; 0 if that was quick. */
    private volatile long usual;

    private volatile long lastAt;

    /** Since when it has been quick again, as far as it is slow; guarded by this. */
    private long quickSince = Times.NEVER;

    // of the present window, guarded by this
    private long from;
    private long answers;
    private long slow;
    private long sum;

    Slowness(long commandTimeout, StoreLog log) {
        this.bound = commandTimeout / 4;
        this.log = log;
    }

    /** An answer has taken so many nanoseconds. */
    void took(long nanos, long now, Executor unlocked) {
        Runnable news = counting || nanos >= bound ? count(nanos, now) : null;
        if (news != null) {
            unlocked.execute(news);
        }
    }

    /** What is to be logged. */
    private synchronized @Nullable Runnable count(long nanos, long now) {
        if (!counting || now - lastAt > OUTDATED) {
            if (since != Times.NEVER) {
                since = now - (lastAt - since); // nothing is known of the time without answers
                quickSince = Times.NEVER;
                usual = 0;
            }
            counting = true;
            begin(now);
        }
        lastAt = now;
        boolean isSlow = nanos >= (since == Times.NEVER ? bound : bound / 2);
        answers++;
        slow += isSlow ? 1 : 0;
        sum += nanos;
        if (now - from < WINDOW || answers < LEAST) {
            return null;
        }
        Runnable news = null;
        long average = sum / answers;
        boolean mostly = 2 * slow >= answers;
        if (mostly) {
            quickSince = Times.NEVER;
        } else if (quickSince == Times.NEVER) {
            quickSince = from;
        }
        if (since == Times.NEVER && mostly && isSlow) {
            since = from;
            news = () -> log.slow(average);
        } else if (since != Times.NEVER && !mostly && now - quickSince >= RECOVERY) {
            long lasted = quickSince - since;
            since = Times.NEVER;
            news = () -> log.quick(average, lasted);
        }
        usual = mostly ? average : 0;
        counting = since != Times.NEVER;
        begin(now);
        return news;
    }

    private void begin(long now) {
        from = now;
        answers = 0;
        slow = 0;
        sum = 0;
    }

    /** How long answers take, in nanoseconds; 0 if the store is not slow, or has not been asked lately. */
    long now(long now) {
        return since == Times.NEVER || now - lastAt > OUTDATED ? 0 : usual;
    }
}
