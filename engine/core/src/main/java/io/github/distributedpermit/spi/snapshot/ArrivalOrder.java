package io.github.distributedpermit.spi.snapshot;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Turns the age of a waiter into its position in the queue of a key, which is the version of the key when the waiter came:
 * the order of the store, not of clocks. A claim may be sent long after its waiter came, since claims of a key are sent one at
 * a time. The version at that time would put the waiter behind members that came after it. Confined to its
 * {@link KeyWorker}.
 *
 * <p>A waiter with a head start looks up a version of before it came. So once waiters have shown head starts, versions are kept for as
 * long as the longest of them. A member that has not used the key for so long knows no earlier version, and such a waiter gets a later
 * position than its head start says.
 *
 * <p>A {@link CommitAttempt} asks for the position before it computes a step; the worker records the version of each
 * answered claim that queued. The order decides only who is served first. An entry that is missing or too late costs
 * a waiter a later position, and never a permit.
 */
final class ArrivalOrder {

    /** The table keeps at most this many entries, so that a waiter that waits for hours does not let it grow. */
    private static final int MOST = 1_024;

    /** So many entries are kept without looking which could be left out. */
    private static final int FEW = 128;

    /** Entries are removed whose waiters get a position that is later by such a part of the time for which they have waited. */
    private static final long PARTS_OF_WAIT = 64;

    /** A waiter that seems older by less than this only came before the worker of its key was made. */
    private static final long NOTICEABLE = TimeUnit.MILLISECONDS.toNanos(100);

    /** Waiters of several members that come within the time of so many answers of the store take turns, see {@link #endOfMoment}. */
    private static final int ANSWERS_IN_MOMENT = 4;

    private static final long SHORTEST_MOMENT = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LONGEST_MOMENT = TimeUnit.MILLISECONDS.toNanos(100);

    /** How often versions are kept within a head start, at least. */
    private static final int PARTS_OF_HEAD_START = 16;

    /** The latest arrival of an oldest waiter; at first the beginning, before which no waiter came. */
    private long latest;

    /** How much earlier than that a waiter came at most, which only a head start can be the reason of. */
    private long headStart;

    /** The oldest waiters of the last two different claims, whose positions are kept exactly. */
    private long lastArrival;

    private long arrivalBefore;

    /** How long the slowest of the last answers took; each later one lowers it by an eighth. */
    private long slowest;

    /** With more entries it is looked which can be left out. */
    private int enough = FEW;

    /** Versions of the key by when this process received them: a time of the monotonic clock in nanoseconds. */
    private final TreeMap<Long, Received> versions = new TreeMap<>();

    /**
     * A version of the key.
     *
     * @param position that a waiter got which arrived when it was received
     * @param momentEnds until when the versions belong to the same moment, see {@link #endOfMoment}
     */
    private record Received(long position, long momentEnds) {}

    /** @param now on the monotonic clock */
    ArrivalOrder(long now) {
        latest = now;
        lastArrival = now;
        arrivalBefore = now;
    }

    /**
     * The position of a waiter: the first version received since it came. A waiter that has arrived never gets a
     * later position than one that arrives now.
     *
     * @param arrival on the monotonic clock
     * @param fresh its position if none was received
     */
    long since(long arrival, long fresh) {
        Map.Entry<Long, Received> first = versions.ceilingEntry(arrival);
        return first == null ? fresh : Math.min(first.getValue().position(), fresh);
    }

    /**
     * Up to which position there are waiters of other members that may have come before this one as well: the first version received after
     * the moment that began with that of {@link #since}, because a member that got all permits claims again only then. If that is much
     * later, so may be what is queued up to it: then the last version that was received within the moment.
     *
     * @param now on the monotonic clock
     * @param fresh the position of a waiter that arrives now
     */
    long endOfMoment(long arrival, long now, long fresh) {
        Map.Entry<Long, Received> first = versions.ceilingEntry(arrival);
        if (first == null) {
            return fresh;
        }
        long ends = first.getValue().momentEnds();
        Map.Entry<Long, Received> after = versions.ceilingEntry(ends);
        if ((after == null ? now : after.getKey()) - ends > LONGEST_MOMENT) {
            after = versions.floorEntry(ends);
        }
        return after == null ? fresh : after.getValue().position();
    }

    /** A claim was answered now, after this time. What was received meanwhile began a moment that follows from it too. */
    void took(long nanos, long now) {
        slowest = Math.max(nanos, slowest - slowest / 8);
        versions.tailMap(now - nanos).replaceAll((time, received) -> at(time, received.position()));
    }

    /** A claim for waiters has read the key. It may take long until it is recorded, while other members change the key. */
    void received(long now, long version) {
        add(now, version);
    }

    /**
     * A claim for waiters is recorded in the store.
     *
     * @param arrival of the oldest of them; no earlier position will be looked up
     * @param version what a waiter that came now would have got
     * @param now when the claim was answered, on the monotonic clock
     */
    void recorded(long arrival, long now, long version) {
        latest = Math.max(latest, arrival);
        if (latest - arrival > NOTICEABLE) {
            headStart = Math.max(headStart, latest - arrival);
        }
        if (arrival != lastArrival) {
            arrivalBefore = lastArrival;
            lastArrival = arrival;
        }
        versions.headMap(Math.min(arrival, now - headStart)).clear();
        add(now, version);
    }

    /**
     * A claim that asks for no waiter is answered. With head starts, later waiters may look up its version.
     *
     * @param asked when the claim was made; only waiters that came later will look up a version
     */
    void passed(long asked, long now, long version) {
        versions.headMap(Math.min(asked, now - headStart)).clear();
        if (headStart > 0 && (versions.isEmpty() || now - versions.lastKey() >= headStart / PARTS_OF_HEAD_START)) {
            add(now, version);
        }
    }

    private void add(long now, long version) {
        // The versions of a key grow. A database begins with its clock, so that of a row which another member has
        // created meanwhile is lower.
        for (Map.Entry<Long, Received> last = versions.lastEntry();
                last != null && last.getValue().position() > version;
                last = versions.lowerEntry(last.getKey())) {
            versions.put(last.getKey(), new Received(version, last.getValue().momentEnds()));
        }
        versions.put(now, at(now, version));
        if (versions.size() <= FEW) {
            enough = FEW;
        } else if (versions.size() > enough) {
            thinOut(now);
            enough = Math.min(MOST, Math.max(FEW, 2 * versions.size()));
        }
    }

    private Received at(long time, long version) {
        long moment = Math.min(LONGEST_MOMENT, Math.max(SHORTEST_MOMENT, ANSWERS_IN_MOMENT * slowest));
        return new Received(version, time + moment);
    }

    /**
     * Removes entries close to others, of which there are many only if waiters have waited for long. A waiter between two that stay gets
     * the position of the later one. So it never overtakes a member that came before it, and is overtaken at most by those that came
     * within {@link #PARTS_OF_WAIT a part} of the time for which it has waited. The part doubles where that leaves too many entries.
     */
    private void thinOut(long now) {
        Set<Long> kept = keptExactly();
        long parts = PARTS_OF_WAIT;
        do {
            List<Long> times = List.copyOf(versions.keySet());
            long before = times.get(0);
            for (int i = 1; i < times.size() - 1; i++) {
                long after = times.get(i + 1);
                if (kept.contains(times.get(i)) || after - before > (now - after) / parts) {
                    before = times.get(i);
                } else {
                    versions.remove(times.get(i));
                }
            }
            parts /= 2;
        } while (versions.size() > MOST / 4 * 3);
    }

    /** The times of what the positions of the last two oldest waiters follow from: as long as these do not change, a re-check changes nothing. */
    private Set<Long> keptExactly() {
        Set<Long> kept = new HashSet<>();
        for (long arrival : new long[] {lastArrival, arrivalBefore}) {
            Map.Entry<Long, Received> first = versions.ceilingEntry(arrival);
            if (first != null) {
                kept.add(first.getKey());
                kept.add(versions.floorKey(first.getValue().momentEnds()));
                kept.add(versions.ceilingKey(first.getValue().momentEnds()));
            }
        }
        return kept;
    }

    /** How many versions it has. */
    int size() {
        return versions.size();
    }

    /** Versions of an earlier session may be those of another history of the store. */
    void clear() {
        versions.clear();
    }
}
