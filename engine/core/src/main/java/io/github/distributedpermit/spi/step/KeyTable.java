package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * All records of one key, one for each member that holds or waits, and the one step of the protocol: the change that a claim
 * makes in them. Every operation that returns a {@link Step} also removes expired records and serves the queue of waiting
 * members. A claim costs O(log members) plus the members it serves or passes over; {@link #position} adds those that are queued up to
 * it. A table of sessions is built anew for each step, from all members.
 *
 * <p>Time enters as {@code now}: in a {@linkplain #leased leased} table the store's clock in microseconds, in a table
 * {@linkplain #ofSessions of sessions} any number of the store that never falls, such as a Raft index or a zxid. The version
 * of a record is never below the {@code now} at which it was written. Not thread-safe: a store keeps the table behind a lock
 * or confines it to one computation.
 *
 * <p>The laws in {@link io.github.distributedpermit.spi.PermitStore} hold for it, which the simulation and the contract tests
 * show. The in-process backend keeps one table per key, a {@link io.github.distributedpermit.spi.snapshot.Snapshot} creates
 * one for each step, and Redis runs the same step in Lua (docs/decisions/0013-three-forms-of-the-step.md).
 *
 * <p>A record that neither holds nor waits is idle. In a leased table it stays for a while as a <em>tombstone</em>, so that a
 * delayed or doubled claim of the member has no effect.
 */
public class KeyTable {

    /**
     * The most expired tombstones that one operation removes, to bound its cost. Expired leases are removed without a bound,
     * because their permits must be free at once.
     */
    private static final int TOMBSTONES_PER_OPERATION = 16;

    /** How long a tombstone stays, in microseconds; negative in a table of sessions, which needs none. */
    private final long tombstone;

    final Records records;
    /** The members that were served, or whose permits were evicted, since the last {@link Step}, in that order. */
    private final Set<String> grown = new LinkedHashSet<>();

    /** {@code null} in a store that does not lose its state. */
    private final @Nullable Grace grace;

    /** The highest version given to a record of this key. It never falls, also if all records are removed. */
    long version;

    KeyTable(
            long tombstone,
            Collection<PermitRecord> records,
            OverrideLimit override,
            long version,
            @Nullable Grace grace) {
        this.grace = grace;
        this.tombstone = tombstone;
        this.records = new Records(records, override, tombstone < 0 ? Records.inTurn(version) : Records.BY_MEMBER);
        this.version = version;
    }

    /**
     * An empty table whose records live by leases.
     *
     * @param tombstone how long the last sequence of a member stays recorded after it has returned everything; longer than any
     *     message may be delayed
     */
    public static KeyTable leased(Duration tombstone) {
        return new KeyTable(TimeUnit.MICROSECONDS.convert(tombstone), List.of(), OverrideLimit.empty(), 0, null);
    }

    /**
     * A table from the snapshot of a store whose records are bound to sessions. Nothing in it expires, and the record of
     * a member that neither holds nor waits is removed at once: the store commits by check-and-set, which refuses a doubled
     * claim without a tombstone.
     *
     * @param records as the store has them, also those of members that have died: {@link #retain} drops them
     * @param override the operator's limit, if set
     * @param version the highest version that the store has recorded for the key
     */
    public static KeyTable ofSessions(Collection<PermitRecord> records, OverrideLimit override, long version) {
        return new KeyTable(-1, records, override, version, null);
    }

    /** The same in a store that may lose its state, and then gives back what members hold before it grants anything else. */
    public static KeyTable ofSessions(
            Collection<PermitRecord> records, OverrideLimit override, long version, Grace grace) {
        return new KeyTable(-1, records, override, version, grace);
    }

    /**
     * The claim of a member.
     *
     * @param since the position in the queue of its oldest waiter, lower is earlier: the time or version of the store when that
     *     waiter arrived
     * @param now the time or version of the store, see the class
     * @return the answer, the difference to commit, and the members that were served
     */
    public Step claim(String member, Claim claim, long now, long since) {
        if (tombstone < 0) {
            // Another lot for each claim, and not only for each version: a member that gets back what it returns writes
            // none. So it would
            // be served until its last waiter.
            records.order(Records.inTurn(version + claim.sequence()));
        }
        expire(now);
        int reclaimable = 0;
        if (grace != null && grace.isActive()) {
            version = Math.max(version, claim.reclaim().knownVersion()); // the store may have lost higher ones
            reclaimable = grace.reclaimable(claim);
        }
        return act(member, claim, now, since, reclaimable);
    }

    /**
     * The step of the protocol after expiry and the check of the grace.
     *
     * @param reclaimable how many permits the member gets back although they are not recorded; 0 without a grace
     */
    final Step act(String member, Claim claim, long now, long since, int reclaimable) {
        PermitRecord known = records.get(member);
        if (known != null && claim.sequence() <= known.sequence()) {
            serve(now);
            return step(current(known), now);
        }
        // A member without a record is treated as one that has no permits and has never sent a claim.
        PermitRecord before = known == null ? PermitRecord.unknown(member) : known;
        // The claim returns what exceeds `held` or `wanted`. Only a grant raises the recorded permits; a grace also
        // brings back those that the member validly holds.
        int base = Math.min(
                Math.max(before.permits(), reclaimable),
                Math.min(claim.counts().held(), claim.counts().wanted()));
        if (grace != null) {
            grace.readmit(Math.max(0, base - before.permits()));
        }
        // A claim that gets all it wants is not queued, so that each queued record wants more than it has.
        boolean more = claim.counts().wanted() > base;
        OptionalLong place = claim.head().queues() && more ? OptionalLong.of(since) : OptionalLong.empty();
        records.put(before.claimed(claim, base, tick(now), place));
        // A claim that does not wait takes only what the queue leaves (law 6).
        serve(now, claim.head().queues() || !more ? null : current(before));
        // Last, because serving may have granted permits to the record, and its expiry depends on whether it is idle.
        return step(settle(current(before), claim, now), now);
    }

    /**
     * The position of a waiter whose arrival is known only roughly. Waiters of several members that came within a moment have
     * positions by which of the members has claimed first, and the others of each would be served directly after its first one.
     * So a member that was served is placed behind those that came within the same moment, and beside the last one of them.
     *
     * @param earliest the first version that the member received after the waiter came
     * @param latest the last one that it received within the moment after that
     * @return the position for {@link #claim}
     */
    public long position(String member, long earliest, long latest) {
        PermitRecord own = records.get(member);
        if (own == null || !own.isWithoutGrant()) {
            return Math.max(earliest, records.lastPosition(latest, member));
        }
        long since = own.since().orElseThrow();
        return earliest <= since && since <= latest ? since : earliest;
    }

    /** Sets or lifts the operator's limit; 0 is a pause. */
    public Step override(OverrideLimit limit, long now) {
        records.override(limit);
        return refresh(now);
    }

    /** Lifts the operator's limit if it is still this one. */
    public Step lift(OverrideLimit ended, long now) {
        return records.override().equals(ended) ? override(OverrideLimit.empty(), now) : refresh(now);
    }

    /**
     * Drops the record of a member that has left. Unlike an eviction it leaves no record, because no call uses
     * these permits any more.
     */
    public Step remove(String member, long now) {
        records.remove(member);
        return refresh(now);
    }

    /**
     * Takes all permits from a member, by order of an operator, and serves the queue with them. The record stays, so that
     * the member receives the loss as its new state, with {@link Step#served}.
     */
    public Step evict(String member, long now) {
        expire(now);
        PermitRecord known = records.get(member);
        if (known != null && known.permits() > 0) {
            if (grace != null) {
                grace.evicted(known.permits());
            }
            // The new version makes the member apply the loss although it has sent no claim.
            PermitRecord left = known.evicted(tick(now));
            records.put(left);
            grown.add(member);
        }
        serve(now);
        return step(null, now);
    }

    /**
     * Drops the records of members that are not alive; the next operation serves the queue and reports them. A store
     * calls it on a fresh table, before the step; the removals become part of that step.
     */
    public void retain(Set<String> liveMembers) {
        for (String member : records.members()) {
            if (!liveMembers.contains(member)) {
                records.remove(member);
            }
        }
    }

    /** Takes back what an operation has changed that an error, such as a full heap, has cut short; else without effect. */
    public void undo() {
        records.undo();
    }

    /** Expires what has lapsed and serves the queue. */
    public Step refresh(long now) {
        expire(now);
        serve(now);
        return step(null, now);
    }

    /** What a member has; empty if it has no record. */
    public Optional<Holding> view(String member, long now) {
        return Optional.ofNullable(records.get(member)).map(r -> view(r, now));
    }

    /** Permits in use, over all members. */
    public int used() {
        return records.used();
    }

    /** The operator's limit, if set. */
    public OverrideLimit override() {
        return records.override();
    }

    /** The highest version given to a record of this key. */
    public long version() {
        return version;
    }

    /** The epoch of the store, as in {@link Holding#epoch}. */
    public long epoch() {
        return grace == null ? 0 : grace.epoch();
    }

    /** How many permits came back since the last loss of state; 0 outside a grace. */
    public int pool() {
        return grace != null && grace.isActive() ? grace.pool() : 0;
    }

    /**
     * Whether nothing is left to remember, so that a store may forget the key. During a grace the key has to stay,
     * since its permits may still come back.
     */
    public boolean isEmpty() {
        return records.isEmpty() && (grace == null || !grace.isActive());
    }

    /** All records, also idle ones, in no particular order. */
    public Collection<PermitRecord> records() {
        return records.all();
    }

    /** For operators: those that hold and do not wait, by id, then the queue. */
    public KeyState state(String key) {
        return View.state(records, key, OptionalLong.empty());
    }

    /**
     * The same with times, of a {@linkplain #leased leased} table.
     *
     * @param now the clock of the store, in microseconds
     */
    public KeyState state(String key, long now) {
        return View.state(records, key, OptionalLong.of(now));
    }

    /** Removes expired records, before anything is granted, so that no grant is refused because of an expired member. */
    final void expire(long now) {
        if (grace != null) {
            grace.expire(now);
        }
        for (PermitRecord r = records.firstLease(); r != null && r.expiry() <= now; r = records.firstLease()) {
            records.remove(r.member());
        }
        PermitRecord old = records.firstTombstone();
        for (int i = 0; i < TOMBSTONES_PER_OPERATION && old != null && old.expiry() <= now; i++) {
            records.remove(old.member());
            old = records.firstTombstone();
        }
    }

    private void serve(long now) {
        serve(now, null);
    }

    /**
     * Serves the queue from its head. A member that does not fit blocks those behind it, unless only its own lower limit keeps it
     * out: one behind it is served if the permits that the first one lacks are free under the limit of the second one. A waiter
     * that can never fit under its limit blocks no other member, since its own core rejects it. With an operator's limit of 0
     * nothing fits and all keep their positions.
     *
     * @param last the record of a claim that does not wait, which is served behind the queue; {@code null} if there is none
     */
    private void serve(long now, @Nullable PermitRecord last) {
        int highest = Math.max(records.highestQueuedLimit(), last == null ? 0 : records.limit(last));
        int lacking = 0; // the most that a member lacks which is still queued
        // No member behind is served if what others lack does not fit under the highest limit.
        for (PermitRecord r = records.head(); r != null && fits(lacking, highest); r = records.behind(r)) {
            int limit = records.limit(r);
            boolean neverFits = limit > 0 && limit < r.weightOfHead();
            if (!neverFits) {
                if (fits(lacking, limit)) {
                    grow(r, now);
                }
                PermitRecord left = current(r);
                lacking = left.isQueued() ? Math.max(lacking, left.lacks()) : lacking;
            }
        }
        if (last != null && fits(lacking, records.limit(last))) {
            grow(last, now);
        }
    }

    /** Whether so many more permits may be in use under this limit. */
    private boolean fits(int permits, int limit) {
        return permits <= (grace == null ? limit : grace.cap(limit)) - records.used();
    }

    /**
     * Grants as much as fits, or nothing if that is less than the oldest waiter needs.
     *
     * @return whether the record got more permits
     */
    private boolean grow(PermitRecord r, long now) {
        int limit = records.limit(r);
        // What the member may have in all: the limit less the permits of all others. It is negative if a lowered
        // limit is exceeded.
        int room = r.permits() - records.used() + (grace == null ? limit : grace.cap(limit));
        int target = Math.min(r.wanted(), room);
        if (target <= r.permits() || target < r.least()) {
            return false;
        }
        records.put(r.grown(target, tick(now)));
        grown.add(r.member());
        return true;
    }

    /** Renews the lease; a record that has become idle becomes a tombstone or, in a table of sessions, is removed. */
    private PermitRecord settle(PermitRecord r, Claim claim, long now) {
        if (tombstone < 0) {
            if (r.isIdle()) {
                records.remove(r.member());
            }
            return r;
        }
        long lasts = r.isIdle() ? tombstone : TimeUnit.MICROSECONDS.convert(claim.lease());
        // An endless lease would overflow the sum.
        long until = lasts > PermitRecord.NEVER - now ? PermitRecord.NEVER : now + lasts;
        // During a grace the tombstone stays until its end: a doubled claim could otherwise reclaim the permits once
        // more.
        if (r.isIdle() && grace != null && grace.isActive()) {
            until = Math.max(until, grace.end());
        }
        PermitRecord settled = r.expiring(until);
        records.put(settled);
        return settled;
    }

    /** The record as serving has left it; the earlier one if it was removed, which then is the answer. */
    private PermitRecord current(PermitRecord earlier) {
        PermitRecord r = records.get(earlier.member());
        return r == null ? earlier : r;
    }

    /**
     * The next version: above all earlier ones, and never below the clock, so that versions go on rising if the key
     * was forgotten.
     */
    private long tick(long now) {
        version = Math.max(version + 1, now);
        return version;
    }

    private Holding view(PermitRecord r, long now) {
        return View.of(records, grace, r, now);
    }

    /** @param claimer the record to answer with; {@code null} if the operation is no claim */
    final Step step(@Nullable PermitRecord claimer, long now) {
        Map<String, Holding> served = new LinkedHashMap<>();
        for (String member : grown) {
            PermitRecord r = records.get(member);
            if (r != null && (claimer == null || !member.equals(claimer.member()))) {
                served.put(member, view(r, now));
            }
        }
        // The next operation on this table reports only what it does itself.
        grown.clear();
        Optional<Holding> answer = Optional.ofNullable(claimer).map(r -> view(r, now));
        Records.Difference difference = records.drain();
        return new Step(answer, difference.written(), difference.removed(), served);
    }
}
