package io.github.distributedpermit.core.key;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The groups of the calls of one key that wait or hold, and whose turn it is. A key has none before the first call with
 * {@link io.github.distributedpermit.PermitRequest#fairBy}. Guarded by the lock of the {@link KeyQueue}; made anew after an error.
 */
final class FairGroups {

    private Map<String, FairGroup<Waiter>> byName = Map.of();

    /** The first one of those that have calls which wait, in no particular order. */
    private @Nullable FairGroup<Waiter> first;

    /** Counts the looks for the next call. */
    private long look;

    Collection<FairGroup<Waiter>> all() {
        return byName.values();
    }

    /**
     * The group of a call that enters the queue; {@code null} if the key has none. Calls without a group are one together, beside
     * those that have one.
     *
     * @param waiting the first call of the queue
     */
    @Nullable
    FairGroup<Waiter> of(Waiter arriving, @Nullable Waiter waiting) {
        if (byName.isEmpty()) {
            if (arriving.fairBy == null) {
                return null;
            }
            byName = new HashMap<>(); // only keys that have groups need one
            addAll(waiting);
        }
        return group(arriving.fairBy, arriving.permit);
    }

    boolean isEmpty() {
        return byName.isEmpty();
    }

    /** Counts a permit in use that no group has as one of the calls without a group. */
    void countWithoutGroup(Grant grant) {
        if (grant.group == null && !isEmpty()) {
            FairGroup<Waiter> group = group(null, grant.permit);
            grant.group = group;
            group.inUse += grant.weight;
        }
    }

    private FairGroup<Waiter> group(@Nullable String fairBy, PermitName permit) {
        Map<String, FairGroup<Waiter>> all = byName;
        String name = fairBy == null ? "" : fairBy;
        FairGroup<Waiter> group = all.computeIfAbsent(name, absent -> new FairGroup<>(absent, all, permit, ++look));
        group.permit = permit;
        return group;
    }

    private void addAll(@Nullable Waiter waiting) {
        for (Waiter w = waiting; w != null; w = w.next) {
            FairGroup<Waiter> group = w.group == null ? group(w.fairBy, w.permit) : w.group;
            w.group = group;
            add(w, group, null);
        }
    }

    /** Adds a call to its group, before this one of its calls; at the end if that is {@code null}. */
    void add(Waiter waiter, FairGroup<Waiter> group, @Nullable Waiter after) {
        Waiter before = after == null ? group.last : after.previousInGroup;
        waiter.previousInGroup = before;
        waiter.nextInGroup = after;
        if (before == null) {
            group.first = waiter;
        } else {
            before.nextInGroup = waiter;
        }
        if (after == null) {
            group.last = waiter;
        } else {
            after.previousInGroup = waiter;
        }
        if (group.waiting++ == 0) {
            FairGroup<Waiter> second = first;
            group.next = second;
            if (second != null) {
                second.previous = group;
            }
            first = group;
        }
    }

    /** Removes a call that leaves the queue from its group. */
    void remove(Waiter waiter, FairGroup<Waiter> group) {
        Waiter before = waiter.previousInGroup;
        Waiter after = waiter.nextInGroup;
        if (before == null) {
            group.first = after;
        } else {
            before.nextInGroup = after;
        }
        if (after == null) {
            group.last = before;
        } else {
            after.previousInGroup = before;
        }
        waiter.previousInGroup = null;
        waiter.nextInGroup = null;
        if (--group.waiting == 0) {
            FairGroup<Waiter> earlier = group.previous;
            FairGroup<Waiter> later = group.next;
            if (earlier == null) {
                first = later;
            } else {
                earlier.next = later;
            }
            if (later != null) {
                later.previous = earlier;
            }
            group.previous = null;
            group.next = null;
        }
        group.dropIfUnused();
    }

    /**
     * The first call of the group that uses the fewest permits here; {@code null} if no call waits.
     *
     * @param limit calls with a lower one are passed over
     * @param lenientOnly whether those that need the store are passed over
     */
    @Nullable
    Waiter next(int limit, boolean lenientOnly) {
        look++;
        Waiter next = null;
        for (FairGroup<Waiter> group = first; group != null; group = group.next) {
            Waiter w = group.first;
            while (w != null && !w.mayBeNext(limit, lenientOnly)) {
                w = w.nextInGroup;
            }
            if (w != null && (next == null || w.isFairBefore(next))) {
                next = w;
            }
        }
        return next;
    }

    /** The call has got its permits: it was the turn of its group. */
    void served(Waiter waiter) {
        if (waiter.group != null) {
            waiter.group.turn = look;
        }
    }

    /**
     * After an error: makes the lists of the groups anew.
     *
     * @param waiting the first call of the queue
     */
    void mend(@Nullable Waiter waiting) {
        first = null;
        byName.values().forEach(FairGroup::clear);
        if (!byName.isEmpty()) {
            addAll(waiting);
        }
        List.copyOf(byName.values()).forEach(FairGroup::dropIfUnused);
    }
}
