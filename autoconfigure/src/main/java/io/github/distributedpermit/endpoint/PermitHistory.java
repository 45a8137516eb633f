package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.endpoint.PermitsView.History;
import io.github.distributedpermit.spi.PermitAccess;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What the calls of this instance did in the last hour, by permit name: the most permits that they held, the most of them that waited,
 * and how many were rejected, in each half minute; and how long they hold on average. In memory only: 2.1 KB for a name that was used in
 * that hour, of {@value #MOST} names at most. Of the others nothing is known. Thread-safe.
 */
public final class PermitHistory implements PermitObserver {

    /** How often {@link #sample} is to be called. */
    public static final Duration PAUSE = Duration.ofSeconds(5);

    static final int MOST = 1_000;
    static final int SLOTS = 120;
    static final Duration STEP = Duration.ofSeconds(30);

    private static final int MOST_HOLDS = 1_000;
    private static final long NEVER = Long.MIN_VALUE / 2;
    private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

    private final Map<String, Track> tracks = new ConcurrentHashMap<>();
    /** Of all names to which nothing has happened. */
    private final Track none = new Track();

    private final LongSupplier nanoTime;
    private final long origin;

    /** When something of a name that is not kept was last dropped, whichever it was. */
    private volatile long droppedAt = NEVER;

    /** With the time since any moment, in nanoseconds. */
    public PermitHistory(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.origin = nanoTime.getAsLong();
    }

    /** Keeps what the calls of all names do now. */
    public void sample(PermitAccess permits) {
        long slot = slot();
        for (PermitDefinition definition : permits.definitions()) {
            permits.gauges(definition.name())
                    .filter(calls -> calls.holders() > 0 || calls.waiters() > 0)
                    .ifPresent(calls -> note(definition.name(), slot, calls.holders(), calls.waiters(), 0));
        }
        forget();
    }

    /** Drops the names that were not used for an hour. */
    void forget() {
        long slot = slot();
        tracks.values().removeIf(track -> track.isEmpty(slot));
    }

    /** How many names are kept. */
    int size() {
        return tracks.size();
    }

    @Override
    public void rejected(PermitCall call, Reason reason, Duration waited) {
        Track track = note(call.name(), slot(), 0, 0, 1);
        if (track != null) {
            track.rejectedLately.add(now());
        }
    }

    @Override
    public void failed(PermitCall call, Throwable cause, Duration waited) {
        Track track = note(call.name(), slot(), 0, 0, 0);
        if (track != null) {
            track.failedLately.add(now());
        }
    }

    @Override
    public void released(PermitCall call, Duration held) {
        if (call.isLost()) {
            return; // one that hangs until its permits are taken is not usual
        }
        Track track = track(call.name());
        if (track != null) {
            track.held(held.toNanos());
        }
    }

    private @Nullable Track track(String name) {
        Track track = tracks.get(name);
        return track == null && tracks.size() < MOST ? tracks.computeIfAbsent(name, absent -> new Track()) : track;
    }

    private @Nullable Track note(String name, long slot, int holding, int waiting, int rejected) {
        Track track = track(name);
        if (track != null) {
            track.note(slot, holding, waiting, rejected);
        } else {
            droppedAt = now();
        }
        return track;
    }

    /** The oldest first; the last one is of the present half minute. {@code null} if it is not known. */
    @Nullable
    History of(String name) {
        Track track = known(name, SLOTS * STEP.toNanos());
        return track == null ? null : track.view(slot());
    }

    /** How many calls of a name were rejected in the last minute; {@code null} if that is not known. */
    @Nullable
    Integer rejectedLately(String name) {
        Track track = known(name, MINUTE);
        return track == null ? null : Integer.valueOf(track.rejectedLately.sum(now()));
    }

    /** How many calls of a name ended in the last minute because the store failed; {@code null} if that is not known. */
    @Nullable
    Integer failedLately(String name) {
        Track track = known(name, MINUTE);
        return track == null ? null : Integer.valueOf(track.failedLately.sum(now()));
    }

    /** How long ago a call of a name was last rejected, if that was in the last minute. */
    @Nullable
    Duration sinceRejected(String name) {
        Track track = known(name, MINUTE);
        return track == null ? null : track.rejectedLately.sinceLast(now());
    }

    /** How long ago a call of a name last ended because the store failed, if that was in the last minute. */
    @Nullable
    Duration sinceFailed(String name) {
        Track track = known(name, MINUTE);
        return track == null ? null : track.failedLately.sinceLast(now());
    }

    /** For how long the last hundreds of calls of a name held their permits on average; {@code null} if that is not known. */
    @Nullable
    Duration averageHold(String name) {
        Track track = tracks.get(name);
        return track == null ? null : track.averageHold();
    }

    /** That without numbers if nothing has happened for so long; {@code null} if something may have been dropped meanwhile. */
    private @Nullable Track known(String name, long time) {
        Track track = tracks.get(name);
        return track != null || now() - droppedAt < time ? track : none;
    }

    private long now() {
        return nanoTime.getAsLong() - origin;
    }

    private long slot() {
        return now() / STEP.toNanos();
    }

    /** The numbers of one name, in a ring. */
    private static final class Track {

        private final int[] holding = new int[SLOTS];
        private final int[] waiting = new int[SLOTS];
        private final int[] rejected = new int[SLOTS];
        private final LastMinute rejectedLately = new LastMinute();
        private final LastMinute failedLately = new LastMinute();
        private long last;
        private long used;
        /** Since the last look at whether it is used. */
        private boolean hasHeld;

        private int holds;
        private long holdNanos;

        synchronized void note(long slot, int holds, int waits, int rejections) {
            advance(slot);
            int at = (int) (last % SLOTS);
            holding[at] = Math.max(holding[at], holds);
            waiting[at] = Math.max(waiting[at], waits);
            rejected[at] += rejections;
            used = last;
        }

        /** Each call comes here, so nothing looks at a clock: {@link #isEmpty} does it for many of them. */
        synchronized void held(long nanos) {
            hasHeld = true;
            if (holds == MOST_HOLDS) { // so that old ones count less and less
                holds /= 2;
                holdNanos /= 2;
            }
            holds++;
            holdNanos += nanos;
        }

        synchronized @Nullable Duration averageHold() {
            return holds == 0 ? null : Duration.ofNanos(holdNanos / holds);
        }

        /** A thread that was slow counts in the present slot. */
        private void advance(long slot) {
            for (long next = Math.max(last + 1, slot - SLOTS + 1); next <= slot; next++) {
                int at = (int) (next % SLOTS);
                holding[at] = 0;
                waiting[at] = 0;
                rejected[at] = 0;
            }
            last = Math.max(last, slot);
        }

        synchronized boolean isEmpty(long slot) {
            if (hasHeld) {
                hasHeld = false;
                used = Math.max(used, slot);
            }
            return slot - used >= SLOTS;
        }

        synchronized History view(long slot) {
            advance(slot);
            return new History(STEP.toSeconds(), inOrder(holding), inOrder(waiting), inOrder(rejected));
        }

        private List<Integer> inOrder(int[] ring) {
            List<Integer> values = new ArrayList<>(SLOTS);
            for (long each = last + 1; each <= last + SLOTS; each++) {
                values.add(ring[(int) (each % SLOTS)]);
            }
            return values;
        }
    }

    /** How many calls there were in the last minute, in parts of a second. */
    private static final class LastMinute {

        private static final int PARTS = 60;

        private final int[] counts = new int[PARTS];
        private long last;
        private long addedAt = NEVER;

        synchronized void add(long nanos) {
            advance(nanos);
            addedAt = Math.max(addedAt, nanos);
            counts[(int) (last % PARTS)]++;
        }

        synchronized int sum(long nanos) {
            advance(nanos);
            return IntStream.of(counts).sum();
        }

        /** {@code null} if none is counted. */
        synchronized @Nullable Duration sinceLast(long nanos) {
            return sum(nanos) == 0 ? null : Duration.ofNanos(Math.max(0, nanos - addedAt));
        }

        private void advance(long nanos) {
            long part = TimeUnit.NANOSECONDS.toSeconds(nanos);
            for (long next = Math.max(last + 1, part - PARTS + 1); next <= part; next++) {
                counts[(int) (next % PARTS)] = 0;
            }
            last = Math.max(last, part);
        }
    }
}
