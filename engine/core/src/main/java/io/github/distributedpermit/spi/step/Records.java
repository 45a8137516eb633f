package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.OverrideLimit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The records of a key, in all the orders a step needs so that none of its parts reads them all. Confined.
 *
 * <p>A {@link KeyTable} owns it; {@link View} reads it. The sets and the sum are derived from the map of records, and
 * each change passes {@link #put} or {@link #remove}, so that they always agree. It also keeps what each changed
 * record was before, from which the difference to commit follows.
 */
final class Records {

    private static final Comparator<PermitRecord> BY_ARRIVAL =
            Comparator.comparingLong(r -> r.since().orElseThrow());

    /** Members with the same position are ordered by id, so that the order is the same in every process. */
    static final Comparator<PermitRecord> BY_MEMBER = BY_ARRIVAL.thenComparing(PermitRecord::member);

    private static final Comparator<PermitRecord> BY_EXPIRY =
            Comparator.comparingLong(PermitRecord::expiry).thenComparing(PermitRecord::member);

    private final Map<String, PermitRecord> byMember = new HashMap<>();
    private NavigableSet<PermitRecord> queue;
    /** How many queued records state each limit. */
    private final NavigableMap<Integer, Integer> queuedLimits = new TreeMap<>();
    /** Records that hold or wait, by expiry; those that never expire are in neither set. */
    private final NavigableSet<PermitRecord> leases = new TreeSet<>(BY_EXPIRY);
    /**
     * Idle records are apart from the leases, because
     * their expiry frees no permit.
     */
    private final NavigableSet<PermitRecord> tombstones = new TreeSet<>(BY_EXPIRY);
    /** What each member had before its first change since the last {@link #drain}; empty if it had no record. */
    private final Map<String, Optional<PermitRecord>> originals = new LinkedHashMap<>();

    private OverrideLimit override;
    /** The sum of the permits of all records. */
    private int used;

    /** @param order of the queue: {@link #BY_MEMBER} or {@link #inTurn} */
    Records(Collection<PermitRecord> stored, OverrideLimit override, Comparator<PermitRecord> order) {
        this.queue = new TreeSet<>(order);
        this.override = override;
        stored.forEach(this::put);
        originals.clear();
    }

    /**
     * Members with the same position take turns: one whose oldest waiter needs more permits precedes, since others would otherwise
     * keep it out. Of the rest a lot decides. It does not look at the permits that they have: one with long calls would wait for the whole
     * burst of another.
     *
     * @param draw which lot
     */
    static Comparator<PermitRecord> inTurn(long draw) {
        return BY_ARRIVAL
                .thenComparing(PermitRecord::weightOfHead, Comparator.reverseOrder())
                .thenComparingLong(r -> lot(r.member(), draw))
                .thenComparing(PermitRecord::member);
    }

    private static long lot(String member, long draw) {
        return new SplittableRandom(((long) member.hashCode() << Integer.SIZE) + draw).nextLong();
    }

    /** Puts the queue into another order. */
    void order(Comparator<PermitRecord> order) {
        NavigableSet<PermitRecord> inOrder = new TreeSet<>(order);
        inOrder.addAll(queue);
        queue = inOrder;
    }

    @Nullable
    PermitRecord get(String member) {
        return byMember.get(member);
    }

    void put(PermitRecord next) {
        changed(next.member(), byMember.get(next.member()));
        byMember.put(next.member(), next);
        enter(next);
    }

    private void enter(PermitRecord next) {
        used += next.permits();
        if (next.isQueued()) {
            queue.add(next);
            queuedLimits.merge(next.limit(), 1, Integer::sum);
        }
        if (next.expiry() != PermitRecord.NEVER) {
            (next.isIdle() ? tombstones : leases).add(next);
        }
    }

    void remove(String member) {
        PermitRecord previous = byMember.get(member);
        if (previous != null) {
            changed(member, previous);
            byMember.remove(member);
        }
    }

    /** Takes the previous record out of all orders; to be called before the next one enters them. */
    private void changed(String member, @Nullable PermitRecord previous) {
        originals.putIfAbsent(member, Optional.ofNullable(previous));
        if (previous != null) {
            used -= previous.permits();
            if (previous.isQueued()) {
                queue.remove(previous);
                queuedLimits.computeIfPresent(previous.limit(), (limit, count) -> count == 1 ? null : count - 1);
            }
            if (previous.expiry() != PermitRecord.NEVER) {
                (previous.isIdle() ? tombstones : leases).remove(previous);
            }
        }
    }

    /**
     * Takes back all changes since the last {@link #drain}. The orders are made anew, because an error may have come between a change
     * of the map and theirs. If an error ends this early, it can be repeated.
     */
    void undo() {
        if (originals.isEmpty()) {
            return;
        }
        originals.forEach((member, original) ->
                original.ifPresentOrElse(before -> byMember.put(member, before), () -> byMember.remove(member)));
        queue.clear();
        queuedLimits.clear();
        leases.clear();
        tombstones.clear();
        used = 0;
        byMember.values().forEach(this::enter);
        originals.clear();
    }

    int used() {
        return used;
    }

    /** Whether there is nothing to remember. */
    boolean isEmpty() {
        return byMember.isEmpty() && override.isEmpty();
    }

    OverrideLimit override() {
        return override;
    }

    void override(OverrideLimit limit) {
        override = limit;
    }

    /** The limit in effect for a member. */
    int limit(PermitRecord r) {
        return override.orElse(r.limit());
    }

    int waiting() {
        return queue.size();
    }

    /** The highest limit in effect for a queued member; 0 if there is none. */
    int highestQueuedLimit() {
        return queue.isEmpty() ? 0 : override.orElse(queuedLimits.lastKey());
    }

    @Nullable
    PermitRecord head() {
        return queue.isEmpty() ? null : queue.first();
    }

    /**
     * The next queued record after this position, whichever member has it now. Works also if the record at that
     * position was removed or replaced meanwhile.
     */
    @Nullable
    PermitRecord behind(PermitRecord place) {
        return queue.higher(place);
    }

    @Nullable
    PermitRecord firstLease() {
        return leases.isEmpty() ? null : leases.first();
    }

    @Nullable
    PermitRecord firstTombstone() {
        return tombstones.isEmpty() ? null : tombstones.first();
    }

    Collection<PermitRecord> all() {
        return List.copyOf(byMember.values());
    }

    /** The last position up to this one at which another member is queued; the lowest number if there is none. */
    long lastPosition(long most, String except) {
        long last = Long.MIN_VALUE;
        for (PermitRecord r : queue) {
            long since = r.since().orElseThrow();
            if (since > most) {
                break;
            }
            last = r.member().equals(except) ? last : since;
        }
        return last;
    }

    /** In the order in which they are served. */
    List<PermitRecord> queued() {
        return List.copyOf(queue);
    }

    Set<String> members() {
        return Set.copyOf(byMember.keySet());
    }

    /**
     * The difference since the last call. A record that was changed and is now as before is no difference, so that
     * nothing is written for it.
     */
    Difference drain() {
        List<PermitRecord> written = new ArrayList<>();
        Set<String> removed = new LinkedHashSet<>();
        originals.forEach((member, original) -> {
            PermitRecord now = byMember.get(member);
            if (now != null && !original.equals(Optional.of(now))) {
                written.add(now);
            } else if (now == null && original.isPresent()) {
                removed.add(member);
            }
        });
        originals.clear();
        return new Difference(written, removed);
    }

    /**
     * @param written records that are new or differ from the original
     * @param removed members that had a record and have none now
     */
    record Difference(List<PermitRecord> written, Set<String> removed) {}
}
