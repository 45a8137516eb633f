package io.github.distributedpermit.core.store;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.core.LogSafe;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.Expired;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.PermitProperty;
import io.github.distributedpermit.spi.PermitStoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Logs what operators have to know: that the store stops or resumes answering, that it refuses claims, that calls run without it (once for each permit name and
 * outage), that it may have lost state, once for all keys, and when all of them get new permits again, lost permits, with at most one line
 * each ten seconds, and members that are not alive any more. Also counts the lost permits. Thread-safe.
 */
public final class StoreLog {

    private static final Logger LOG = System.getLogger(StoreLog.class.getName());

    /** Between two lines about the same, in nanoseconds. */
    public static final long INTERVAL = TimeUnit.SECONDS.toNanos(10);

    /** The most calls that one line names. */
    private static final int MOST_CALLERS = 5;

    /** In characters: what a store refuses says where, and how to mend it. */
    private static final int LONGEST_PROBLEM = 500;

    /** The most keys with members that are not alive any more, each with a line of its own in ten seconds. */
    private static final int MOST_EXPIRIES = 10;

    /** Between two lines about the same refusal, in nanoseconds. */
    private static final long REFUSAL_INTERVAL = TimeUnit.MINUTES.toNanos(10);

    /** Between two looks whether a grace has ended that lasts longer than the lease of this instance, in nanoseconds. */
    private static final long GRACE_CHECK = TimeUnit.SECONDS.toNanos(1);

    /** The most keys that are remembered to be counted. */
    private static final int MOST_KEYS = 1_000;

    private final String store;
    private final Consumer<Consumer<PermitObserver>> observers;
    private final AtomicLong lost = new AtomicLong();
    private final Throttle losses = new Throttle(1);
    /** Since the store may have lost state, until all keys of this instance get new permits again. */
    private volatile @Nullable Grace grace;

    private final Throttle expiries = new Throttle(MOST_EXPIRIES);
    /** The reason of the last line about a refusal. Guarded by this, as its time is. */
    private @Nullable String refusal;

    private long refusedAt;
    private final Map<String, Bypass> bypasses = new ConcurrentHashMap<>();

    /**
     * A log for one store.
     *
     * @param address host and port of the store; empty if it has none
     * @param observers passes an event to all observers; of the outages
     */
    public StoreLog(String backend, String address, Consumer<Consumer<PermitObserver>> observers) {
        this.observers = observers;
        store = address.isEmpty() ? "'" + backend + "'" : "'" + backend + "' at " + LogSafe.escape(address);
    }

    /** No claim has been answered for this many nanoseconds. */
    void fails(Throwable cause, long nanos) {
        observers.accept(PermitObserver::storeSilent);
        LOG.log(
                Level.WARNING,
                "The store of permits {0} has not answered for {1} ms ({2}). Claims are repeated; calls that wait longer than"
                        + " their store time-out fail, unless onStoreFailure lets them run. Check the store, and the connection of"
                        + " this instance to it.",
                store,
                millis(nanos),
                problem(cause));
    }

    /** The store answers again after this many nanoseconds. */
    void answers(long nanos) {
        observers.accept(each -> each.storeAnswers(Duration.ofNanos(nanos)));
        LOG.log(Level.INFO, "The store of permits {0} answers again after {1} ms.", store, millis(nanos));
    }

    /** A claim was refused for a reason that only people can mend. */
    void refuses(PermitStoreException cause, long now) {
        String reason = problem(cause);
        synchronized (this) {
            if (refusal != null && now - refusedAt < (reason.equals(refusal) ? REFUSAL_INTERVAL : INTERVAL)) {
                return;
            }
            refusal = reason;
            refusedAt = now;
        }
        LOG.log(
                Level.WARNING,
                "The store of permits {0} answers, and refuses a claim: {1}. Such calls fail until that is mended, whatever"
                        + " onStoreFailure says.",
                store,
                reason);
    }

    /** The store answers slowly: after so many nanoseconds on average. */
    void slow(long average) {
        observers.accept(each -> each.storeSlow(Duration.ofNanos(average)));
        LOG.log(
                Level.WARNING,
                "The store of permits {0} answers slowly: after {1} ms on average of the last seconds. Calls wait that long for a"
                        + " permit, and permits are in use that much longer, until the store has their return. Check the load of the"
                        + " store and the network to it; a restart of this instance does not help.",
                store,
                millis(average));
    }

    /** The store answers quickly again, after so many nanoseconds on average, and was slow for so many. */
    void quick(long average, long lasted) {
        observers.accept(each -> each.storeQuick(Duration.ofNanos(lasted)));
        LOG.log(
                Level.INFO,
                "The store of permits {0} answers quickly again: after {1} ms on average. It was slow for {2} ms.",
                store,
                millis(average),
                millis(lasted));
    }

    /**
     * A call runs without the store, which has not answered for this many nanoseconds.
     *
     * @param name of the permit, as in the settings
     * @param inUse how many permits of that name calls have without the store
     * @param terms what was stated for that case, and what it means here
     */
    public void ran(String name, IntSupplier inUse, OnStoreFailure how, String terms, long nanos, int keys) {
        Bypass known = bypasses.get(name);
        if (known == null) {
            Bypass first = new Bypass(new LongAdder(), inUse);
            known = bypasses.putIfAbsent(name, first);
            if (known == null) {
                known = first;
                LOG.log(
                        Level.WARNING,
                        "The store of permits {0} has not answered for {1} ms. From now on calls of permit ''{2}'' run without it"
                                + " (onStoreFailure = {3}: {4}), until it has answered steadily. Keys in use: {5}. Check the store and"
                                + " its connection; set {6} to FAIL to have such calls fail instead.",
                        store,
                        millis(nanos),
                        LogSafe.escape(name),
                        how,
                        terms,
                        Integer.toString(keys),
                        LogSafe.escape(PermitProperty.of(name, "on-store-failure")));
            }
        }
        known.calls.increment();
    }

    /** The store is used again after this many nanoseconds. */
    public void usedAgain(long nanos) {
        List<String> names = new ArrayList<>();
        long all = 0;
        for (String name : List.copyOf(bypasses.keySet())) {
            Bypass ended = bypasses.remove(name);
            if (ended != null) {
                long ran = ended.calls.sum();
                all += ran;
                names.add("'%s' (%d, %d permit(s) of them still in use)"
                        .formatted(LogSafe.escape(name), ran, ended.inUse.getAsInt()));
            }
        }
        LOG.log(
                Level.WARNING,
                "The store of permits {0} answers again and is used again after {1} ms. Meanwhile {2} call(s) ran without it:"
                        + " {3}. Permits still in use are recorded in the store before other calls get any.",
                store,
                millis(nanos),
                Long.toString(all),
                names.stream().sorted().collect(Collectors.joining(", ")));
    }

    /**
     * Calls have lost their permits, all at once and of one key.
     *
     * @param why as part of a sentence about the permits
     * @param callers who made the calls, as far as that is recorded
     * @return whether the line has to wait, and {@link #moreLost} is to be called after {@link #INTERVAL}
     */
    public boolean lost(List<? extends PermitCall> calls, String why, List<Caller> callers, long now) {
        int permits = calls.stream().mapToInt(PermitCall::permits).sum();
        lost.addAndGet(permits);
        long unlogged = losses.pass(permits, now);
        if (unlogged < 0) {
            return unlogged == Throttle.FIRST;
        }
        PermitCall first = calls.get(0);
        LOG.log(
                Level.WARNING,
                "{0} call(s) lost {1} permit(s) of ''{2}'', key ''{3}'': {4}. Those that still run go on without, and other calls may"
                        + " hold the permits now.{5} The listeners of the permits run; isHeld() returns false.{6}",
                Integer.toString(calls.size()),
                Integer.toString(permits),
                LogSafe.escape(first.name()),
                LogSafe.escape(first.key()),
                why,
                callers.isEmpty() ? "" : " These are calls of " + describe(callers) + ".",
                unlogged == 0 ? "" : " " + unlogged + " other permit(s) were lost since the last such line.");
        return false;
    }

    private static String describe(List<Caller> callers) {
        String most = callers.stream()
                .limit(MOST_CALLERS)
                .map(caller -> LogSafe.escape(caller.method().orElse("an unknown method")) + " on thread '"
                        + LogSafe.escape(caller.threadName()) + "'")
                .collect(Collectors.joining(", "));
        return callers.size() > MOST_CALLERS ? most + ", and " + (callers.size() - MOST_CALLERS) + " more" : most;
    }

    /** Logs how many permits were lost since the last line about some. */
    public void moreLost(long now) {
        long more = losses.rest(now);
        if (more > 0) {
            LOG.log(
                    Level.WARNING,
                    "Calls lost {0} more permit(s) since the last such line, {1} since the start of this instance.",
                    Long.toString(more),
                    Long.toString(lostPermits()));
        }
    }

    /** Permits of members that are not alive any more were freed. A few lines at a time: such a member may have permits of many keys. */
    public void expired(String key, Expired members, long now) {
        long unlogged = expiries.pass(1, now);
        if (unlogged < 0) {
            return;
        }
        LOG.log(
                Level.WARNING,
                "Member ''{0}''{1} is not alive any more in the store {2}: {3}. It had {4} permit(s) of key ''{5}'', which other calls get"
                        + " now.{6} If that instance still runs, it does not reach the store, and its calls go on without: see its log.{7}",
                LogSafe.escape(members.name().orElse(members.member())),
                members.name().isEmpty() ? "" : " (id " + LogSafe.escape(members.member()) + ")",
                store,
                members.ago()
                        .map(ago -> "its lease ended " + ago.toMillis() + " ms ago, without a claim of it")
                        .orElse("its session has ended, or its record was deleted"),
                Integer.toString(members.permits()),
                LogSafe.escape(key),
                members.others() == 0
                        ? ""
                        : " So did %d other member(s) with %d permit(s)."
                                .formatted(members.others(), members.permitsOfOthers()),
                unlogged == 0 ? "" : " " + unlogged + " other key(s) had such members since the last such line.");
    }

    /**
     * A key is in grace, see {@code KeyQueueHost#graceBegins}. Keys enter it one after another, as they are used: only the first one is
     * logged, since each further line would read like another loss.
     *
     * @return after how many nanoseconds {@link #graceMayEnd} is to be called; 0 for not at all
     */
    public long graceBegins(String key, boolean moved, long lasts, long now) {
        observers.accept(each -> each.graceBegan(key, Duration.ofNanos(lasts)));
        boolean watched;
        synchronized (losses) {
            Grace known = grace;
            if (known != null && (now < known.ends || !known.keys.contains(key))) {
                known.add(key);
                return 0;
            }
            watched = known != null;
            grace = new Grace(key, now, now + lasts);
        }
        LOG.log(
                Level.WARNING,
                "The store of permits {0} may have lost state: {1}. For up to {2} ms, or the longest lease of another instance, it"
                        + " grants permits only to those who still hold them: of key ''{3}'', and of other keys as they are used."
                        + " Calls that do not wait fail meanwhile.",
                store,
                moved
                        ? "another server answers, or the same one after it was restarted or emptied"
                        : "it has no data of permits that may be held, as after it was emptied",
                millis(lasts),
                LogSafe.escape(key));
        return watched ? 0 : lasts;
    }

    /**
     * Logs the end of the grace if it has ended.
     *
     * @param keys how many keys of this instance are in grace
     * @return after how many nanoseconds this is to be called again; 0 for not at all
     */
    public long graceMayEnd(int keys, long now) {
        Grace ended;
        synchronized (losses) {
            ended = grace;
            if (ended == null) {
                return 0;
            }
            if (keys > 0 || now < ended.ends) {
                return Math.max(ended.ends - now, GRACE_CHECK);
            }
            grace = null;
        }
        long lasted = now - ended.began;
        observers.accept(each -> each.graceEnded(Duration.ofNanos(lasted)));
        LOG.log(
                Level.INFO,
                "All keys of this instance get new permits again, {0} ms after the store of permits {1} may have lost state. {2} key(s)"
                        + " got none for a while.",
                millis(lasted),
                store,
                Integer.toString(ended.keys.size()));
        return 0;
    }

    /** How long the grace still lasts at most; empty if there is none, or if it lasts longer because of the lease of another instance. */
    public Optional<Duration> graceLeft(long now) {
        Grace known = grace;
        return known == null || now >= known.ends ? Optional.empty() : Optional.of(Duration.ofNanos(known.ends - now));
    }

    /** How many permits were lost. */
    public long lostPermits() {
        return lost.get();
    }

    private static String millis(long nanos) {
        return Long.toString(TimeUnit.NANOSECONDS.toMillis(nanos));
    }

    /** Only the messages of our own exceptions are known to have no secrets. */
    private static String problem(Throwable cause) {
        String message = cause.getMessage();
        return cause instanceof PermitStoreException && message != null
                ? LogSafe.escape(message, LONGEST_PROBLEM)
                : cause.getClass().getSimpleName();
    }

    /** Its keys are guarded by {@link #losses}. */
    private static final class Grace {

        final long began;
        final long ends;
        final Set<String> keys = new HashSet<>();

        Grace(String key, long began, long ends) {
            this.began = began;
            this.ends = ends;
            keys.add(key);
        }

        void add(String key) {
            if (keys.size() < MOST_KEYS) {
                keys.add(key); // a key may enter it again and again
            }
        }
    }

    /** The calls of one name that ran without the store. */
    private record Bypass(LongAdder calls, IntSupplier inUse) {}

    /** Lets so many lines through in ten seconds, and counts what the others were to say. */
    private static final class Throttle {

        /** The first of what is not logged since the last line. */
        static final long FIRST = -1;

        private static final long FURTHER = -2;

        private final int most;
        private long next = Long.MIN_VALUE;
        private int lines;
        private long unlogged;

        Throttle(int most) {
            this.most = most;
        }

        /** What was not logged since the last line, if a line is due; else a negative number, and this is counted. */
        synchronized long pass(int count, long now) {
            if (now >= next) {
                next = now + INTERVAL;
                lines = 0;
            }
            if (lines == most) {
                unlogged += count;
                return unlogged == count ? FIRST : FURTHER;
            }
            lines++;
            return takeUnlogged();
        }

        /** What was not logged since the last line, for a line now. */
        synchronized long rest(long now) {
            next = now + INTERVAL;
            lines = most;
            return takeUnlogged();
        }

        private long takeUnlogged() {
            long before = unlogged;
            unlogged = 0;
            return before;
        }
    }
}
