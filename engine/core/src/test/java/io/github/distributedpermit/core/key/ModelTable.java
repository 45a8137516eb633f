package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The store's part of the protocol once more, written down from its description as plainly as possible: no index, every
 * question reads all records. The real step has to agree with it, and mistakes are planted here.
 */
final class ModelTable implements SimTable {

    /** A mistake a store could make. */
    enum Mistake {
        SEQUENCE_IGNORED,
        ZERO_RECORD_DELETED,
        HEAD_JUDGED_BY_THE_FREER,
        SERVED_MOVES_TO_THE_TAIL,
        VERSION_RESTARTS_AT_ONE,
        DEAD_MEMBER_STAYS,
        UNIT_IGNORED,
        HEAD_THAT_NEVER_FITS_BLOCKS,
        TRY_BARGES,
        LOWER_LIMIT_BLOCKS,
        HEAVY_HEAD_IS_PASSED,
        PASSED_HEAD_MOVES_TO_THE_TAIL
    }

    private static final class Entry {
        int permits;
        long sequence = -1;
        long version;
        int wanted;
        int unit;
        int least;
        int limit;

        @Nullable
        Long since;

        long expiry = Long.MAX_VALUE;

        boolean idle() {
            return permits == 0 && since == null;
        }
    }

    private final TreeMap<String, Entry> entries = new TreeMap<>();
    private final Set<String> grown = new HashSet<>();
    private final long tombstone;
    private final @Nullable Mistake mistake;
    private OverrideLimit override = OverrideLimit.empty();
    private long version;
    private int freerLimit;

    ModelTable(Duration tombstone, @Nullable Mistake mistake) {
        this.tombstone = tombstone.toNanos() / 1_000;
        this.mistake = mistake;
    }

    @Override
    public Outcome claim(String member, Claim c, long now) {
        expire(now);
        freerLimit = c.counts().limit();
        Entry r = entries.computeIfAbsent(member, absent -> new Entry());
        if (c.sequence() <= r.sequence && mistake != Mistake.SEQUENCE_IGNORED) {
            serve(now);
            return outcome(member, now);
        }
        int base = Math.min(r.permits, Math.min(c.counts().held(), c.counts().wanted()));
        r.since = null;
        r.sequence = Math.max(r.sequence, c.sequence());
        r.wanted = c.counts().wanted();
        r.unit = c.head().weight();
        r.limit = c.counts().limit();
        r.permits = base;
        r.least = base + (mistake == Mistake.UNIT_IGNORED ? 0 : c.head().weight());
        r.version = tick(now);
        if (c.head().queues() && c.counts().wanted() > base) {
            r.since = now - c.head().waited().toNanos() / 1_000;
        }
        serve(now);
        if (!c.head().queues()
                && c.counts().wanted() > base
                && (line().stream().noneMatch(w -> blocks(w.getValue(), r)) || mistake == Mistake.TRY_BARGES)) {
            grow(member, r, now);
        }
        r.expiry = now + (r.idle() ? tombstone : c.lease().toNanos() / 1_000);
        if (r.idle() && mistake == Mistake.ZERO_RECORD_DELETED) {
            Holding answer = view(r, now);
            entries.remove(member);
            return new Outcome(answer, served(member, now));
        }
        return outcome(member, now);
    }

    private void expire(long now) {
        entries.values().removeIf(r -> r.expiry <= now && (mistake != Mistake.DEAD_MEMBER_STAYS || r.since == null));
    }

    private List<Map.Entry<String, Entry>> line() {
        List<Map.Entry<String, Entry>> line = new ArrayList<>();
        for (Map.Entry<String, Entry> e : entries.entrySet()) {
            if (e.getValue().since != null) {
                line.add(e);
            }
        }
        line.sort(Comparator.comparingLong(e -> since(e.getValue())));
        return line;
    }

    private static long since(Entry r) {
        return r.since == null ? Long.MAX_VALUE : r.since;
    }

    /** A member is served if it fits and none before it blocks it. */
    private void serve(long now) {
        List<Entry> before = new ArrayList<>();
        for (Map.Entry<String, Entry> e : line()) {
            Entry w = e.getValue();
            if (neverFits(w)) {
                continue;
            }
            boolean served = before.stream().noneMatch(b -> blocks(b, w)) && grow(e.getKey(), w, now);
            if (served && mistake == Mistake.PASSED_HEAD_MOVES_TO_THE_TAIL) {
                before.forEach(passed -> passed.since = now);
            }
            if (w.permits == w.wanted) {
                w.since = null;
            } else if (served && mistake == Mistake.SERVED_MOVES_TO_THE_TAIL) {
                w.since = now;
            } else {
                before.add(w);
            }
        }
    }

    private boolean neverFits(Entry queued) {
        int limit = limit(queued);
        return limit > 0 && limit < queued.unit && mistake != Mistake.HEAD_THAT_NEVER_FITS_BLOCKS;
    }

    /** Whether a queued member blocks another: unless it would fit under the other's limit, or never fits under its own. */
    private boolean blocks(Entry queued, Entry other) {
        if (neverFits(queued)) {
            return false;
        }
        if (mistake == Mistake.LOWER_LIMIT_BLOCKS) {
            return true;
        }
        int needed = mistake == Mistake.HEAVY_HEAD_IS_PASSED ? 1 : Math.max(1, queued.least - queued.permits);
        return queued.least > queued.wanted || used() + needed > limit(other);
    }

    private boolean grow(String member, Entry r, long now) {
        int target = Math.min(r.wanted, r.permits + limit(r) - used());
        if (target <= r.permits || target < r.least) {
            return false;
        }
        r.permits = target;
        r.version = tick(now);
        grown.add(member);
        return true;
    }

    private int limit(Entry r) {
        return override.orElse(mistake == Mistake.HEAD_JUDGED_BY_THE_FREER ? freerLimit : r.limit);
    }

    private long tick(long now) {
        version = mistake == Mistake.VERSION_RESTARTS_AT_ONE ? version + 1 : Math.max(version + 1, now);
        return version;
    }

    private Holding view(Entry r, long now) {
        List<Map.Entry<String, Entry>> line = line();
        boolean head = !line.isEmpty() && line.get(0).getValue() == r;
        long first = entries.values().stream()
                .filter(e -> !e.idle())
                .mapToLong(e -> e.expiry)
                .min()
                .orElse(Long.MAX_VALUE);
        Optional<Duration> recheck = head && first != Long.MAX_VALUE
                ? Optional.of(Duration.ofNanos((first - now + 1_000) * 1_000))
                : Optional.empty();
        boolean contended = line.size() > (r.since == null ? 0 : 1);
        return new Holding(
                r.permits,
                limit(r),
                r.sequence,
                r.version,
                new Holding.Others(contended, used() > limit(r), false, recheck));
    }

    private Outcome outcome(@Nullable String claimer, long now) {
        Entry r = claimer == null ? null : entries.get(claimer);
        return new Outcome(r == null ? null : view(r, now), served(claimer, now));
    }

    private Map<String, Holding> served(@Nullable String claimer, long now) {
        Map<String, Holding> served = new LinkedHashMap<>();
        for (String member : grown) {
            Entry r = entries.get(member);
            if (r != null && !member.equals(claimer)) {
                served.put(member, view(r, now));
            }
        }
        grown.clear();
        return served;
    }

    @Override
    public Outcome override(OverrideLimit limit, long now) {
        override = limit;
        return refresh(now);
    }

    @Override
    public Outcome refresh(long now) {
        expire(now);
        serve(now);
        return outcome(null, now);
    }

    @Override
    public Outcome leave(String member, long now) {
        entries.remove(member);
        return refresh(now);
    }

    @Override
    public List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        entries.forEach((member, r) -> rows.add(row(member, r)));
        return rows;
    }

    @Override
    public @Nullable Row row(String member) {
        Entry r = entries.get(member);
        return r == null ? null : row(member, r);
    }

    private static Row row(String member, Entry r) {
        OptionalLong since = r.since == null ? OptionalLong.empty() : OptionalLong.of(r.since);
        int lacks = Math.max(1, r.least - r.permits);
        return new Row(member, r.permits, r.wanted, r.unit, lacks, r.limit, r.sequence, since, r.expiry);
    }

    @Override
    public int used() {
        return entries.values().stream().mapToInt(r -> r.permits).sum();
    }

    @Override
    public OverrideLimit override() {
        return override;
    }

    @Override
    public boolean isEmpty() {
        return entries.isEmpty() && override.isEmpty();
    }
}
