package io.github.distributedpermit.spi.step;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The records of a key, in all the orders a step needs so that none of its parts reads them all. Confined. */
final class Records {

    private static final Comparator<PermitRecord> BY_ARRIVAL =
            Comparator.<PermitRecord>comparingLong(r -> r.since().orElseThrow()).thenComparing(PermitRecord::member);
    private static final Comparator<PermitRecord> BY_EXPIRY =
            Comparator.comparingLong(PermitRecord::expiry).thenComparing(PermitRecord::member);

    private final Map<String, PermitRecord> byMember = new HashMap<>();
    private final NavigableSet<PermitRecord> queue = new TreeSet<>(BY_ARRIVAL);
    private final NavigableSet<PermitRecord> leases = new TreeSet<>(BY_EXPIRY);
    private final NavigableSet<PermitRecord> tombstones = new TreeSet<>(BY_EXPIRY);
    private final Map<String, Optional<PermitRecord>> originals = new LinkedHashMap<>();
    private OptionalInt override;
    private int used;

    Records(Collection<PermitRecord> stored, OptionalInt override) {
        this.override = override;
        stored.forEach(this::put);
        originals.clear();
    }

    @Nullable
    PermitRecord get(String member) {
        return byMember.get(member);
    }

    void put(PermitRecord next) {
        PermitRecord previous = byMember.put(next.member(), next);
        changed(next.member(), previous);
        used += next.permits();
        if (next.inLine()) {
            queue.add(next);
        }
        if (next.expiry() != PermitRecord.NEVER) {
            (next.isIdle() ? tombstones : leases).add(next);
        }
    }

    void remove(String member) {
        PermitRecord previous = byMember.remove(member);
        if (previous != null) {
            changed(member, previous);
        }
    }

    private void changed(String member, @Nullable PermitRecord previous) {
        originals.putIfAbsent(member, Optional.ofNullable(previous));
        if (previous != null) {
            used -= previous.permits();
            if (previous.inLine()) {
                queue.remove(previous);
            }
            if (previous.expiry() != PermitRecord.NEVER) {
                (previous.isIdle() ? tombstones : leases).remove(previous);
            }
        }
    }

    int used() {
        return used;
    }

    /** Whether there is nothing to remember. */
    boolean isEmpty() {
        return byMember.isEmpty() && override.isEmpty();
    }

    OptionalInt override() {
        return override;
    }

    void override(OptionalInt limit) {
        override = limit;
    }

    /** The limit in effect for a member. */
    int limit(PermitRecord r) {
        return override.orElse(r.limit());
    }

    int waiting() {
        return queue.size();
    }

    @Nullable
    PermitRecord head() {
        return queue.isEmpty() ? null : queue.first();
    }

    /** The next queued record after this position, whichever member has it now. */
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

    List<PermitRecord> queued() {
        return List.copyOf(queue);
    }

    Set<String> members() {
        return Set.copyOf(byMember.keySet());
    }

    /** The difference since the last call. */
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

    record Difference(List<PermitRecord> written, Set<String> removed) {}
}
