package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.SlotTree.Guard;
import io.github.distributedpermit.backend.consul.SlotTree.Slot;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.Step;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Plans the transaction that makes of a tree of layout slots what a step says. Its operations, in this order:
 *
 * <ol>
 *   <li>the guard, which makes the transaction fail if the tree is out of date
 *   <li>for each member that is served: its slots, its record and its notice
 *   <li>the slots that the claiming member takes, and those that it returns and no member takes
 *   <li>the record of the claiming member, and what {@link QueueChanges} adds
 * </ol>
 *
 * <p>A freed slot passes directly to a served member (unlock, then lock for the other session), so that it is never free for a
 * third one. Consul takes 64 operations; what does not fit follows in the next transaction, and a member is notified only
 * when it has all that the step grants it. Used once, by one thread.
 *
 * <p>It keeps the order of the step: once a member could not be given all that the step grants it, no member behind it is
 * served, so that the next transaction continues at the same place.
 */
final class SlotPlan {

    /** 64 without the fence, the guard (3), the final get-tree, the own record (2), the own inbox and the override. */
    private static final int ROOM = 55;
    /** What a served member needs besides its slots: its record (2) and its notice. */
    private static final int NOTICE_COST = 3;
    /** What a slot costs that changes hands or comes into being. */
    private static final int SLOT_COST = 2;

    /** The key as it was read or assumed; the guard and the operations on slots fail if it has changed. */
    private final SlotTree tree;

    private final Step step;
    private final ChangeRequest request;
    /** Without the guard, which is put in front at the end. */
    private final List<TxnOperation> ops = new ArrayList<>();

    private final QueueChanges queue;
    /** Slots of the claiming member that it returns and that were not given to a served member yet. */
    private final Deque<Slot> freed;
    /** Slots of the claiming member in the tree. */
    private final int ownBefore;
    /** Slots of the claiming member after the transaction, as far as it is planned. */
    private int ownAfter;
    /** How many operations still fit. */
    private int room = ROOM;
    /** How many slots exist after the transaction. */
    private int slotsAfter;
    /** The highest slot that changes hands, -1 if none: above the limit, the guard has to change. */
    private int highestTaken = -1;
    /** The lowest slot of the last {@link #take}. */
    private int lowestTaken;
    /** No slot below this number is free in the tree. */
    private int nextFree;
    /** The last {@link #take} got all it wanted; if not, no member behind it may be served. */
    private boolean whole = true;

    private SlotPlan(SlotTree tree, Step step, ChangeRequest request) {
        this.tree = tree;
        this.step = step;
        this.request = request;
        queue = new QueueChanges(tree, step, request, ops);
        slotsAfter = tree.slots().size();
        List<Slot> own = tree.slotsOf(request.session());
        ownBefore = own.size();
        // Returns come first; what the member gets is added when the members before it have been served.
        ownAfter = Math.min(ownBefore, target(request.session(), ownBefore));
        // The lowest slots stay, so that slots above a lowered limit become free first.
        freed = new ArrayDeque<>(own.subList(ownAfter, ownBefore));
    }

    static PlannedTransaction of(SlotTree tree, Step step, ChangeRequest request) {
        return new SlotPlan(tree, step, request).build();
    }

    /** Collects the operations; the guard is put in front at last, when it is known whether it has to change. */
    private PlannedTransaction build() {
        for (Map.Entry<String, Holding> served : step.served().entrySet()) {
            // the member itself is served below, without a notice
            if (whole && !served.getKey().equals(request.session())) {
                serve(served.getKey(), served.getValue());
            }
        }
        PermitRecord own = queue.written(request.session());
        if (own != null && own.permits() > ownBefore && whole) {
            ownAfter += take(request.session(), request.member(), own.limit(), own.permits() - ownBefore, room);
        }
        // A return that does not fit follows in the next transaction; the layer then repeats the step.
        boolean isPart = !dropFreed();
        boolean queues = writeOwnRecord(own);
        queue.finish(ownAfter == 0 && !queues);
        // Of an unused key the guard is deleted, also if it is all that there is.
        if (!ops.isEmpty() || tree.hasOrphans(request.session())) {
            ops.addAll(0, guard());
        }
        return new PlannedTransaction(
                List.copyOf(ops), queue.isPlain(ownAfter), isPart, ownAfter > ownBefore, queues, 1, Set.of());
    }

    /** How many permits the step leaves to a member. */
    private int target(String session, int unchanged) {
        if (step.removed().contains(session)) {
            return 0;
        }
        PermitRecord record = queue.written(session);
        return record == null ? unchanged : record.permits();
    }

    /** Gives a waiter what the step grants it. It receives a notice only when it has all of it. */
    private void serve(String session, Holding holding) {
        List<Slot> held = tree.slotsOf(session);
        int missing = holding.permits() - held.size();
        PermitRecord record = Objects.requireNonNull(queue.written(session));
        // The slot states the served member's own limit, under which it was granted.
        int given = take(session, tree.member(session), record.limit(), missing, room - NOTICE_COST);
        if (given < missing) {
            // It keeps its record and with it its place; the next transaction goes on with it.
            if (given > 0) {
                queue.stillWaits(session);
                room--;
            }
            return;
        }
        room -= NOTICE_COST;
        // The place that makes the version of this grant unique among the members of the key.
        int lowest =
                held.isEmpty() ? lowestTaken : Math.min(lowestTaken, held.get(0).number());
        queue.served(session, holding, lowest);
    }

    /**
     * Takes freed slots first, then new ones; as many as there is room for.
     *
     * @param budget how many operations it may use
     * @return how many slots the member gets
     */
    private int take(String session, String member, int limit, int count, int budget) {
        int given = Math.min(count, Math.max(0, budget / SLOT_COST));
        lowestTaken = Integer.MAX_VALUE;
        String value = Format.text(Map.of("member", member, "limit", limit));
        for (int i = 0; i < given; i++) {
            Slot slot = freed.poll();
            int number = slot == null ? freeNumber() : slot.number();
            String name = tree.names().slot(number);
            // A slot that another member took meanwhile refuses the transaction, in both cases.
            ops.add(slot == null ? TxnOperation.checkNotExists(name) : TxnOperation.unlock(name, request.session()));
            ops.add(TxnOperation.lock(name, session, value));
            slotsAfter += slot == null ? 1 : 0;
            highestTaken = Math.max(highestTaken, number);
            lowestTaken = Math.min(lowestTaken, number);
            room -= SLOT_COST;
        }
        whole = given == count;
        return given;
    }

    /**
     * The lowest number without a slot, each one once per plan. The lowest numbers are used first, so that a slot
     * above the limit shows that the limit was lowered.
     */
    private int freeNumber() {
        while (tree.slots().containsKey(nextFree)) {
            nextFree++;
        }
        return nextFree++;
    }

    /** Deletes the slots that no member takes; {@code false} if some had to stay. */
    private boolean dropFreed() {
        while (!freed.isEmpty() && room > 0) {
            // the lowest stay
            Slot slot = freed.removeLast();
            // Fails if the slot has passed to another member. One that was evicted needs no deletion.
            ops.add(TxnOperation.deleteCas(tree.names().slot(slot.number()), slot.index()));
            slotsAfter--;
            room--;
        }
        // What could not be deleted is still recorded for the member.
        ownAfter += freed.size();
        return freed.isEmpty();
    }

    /**
     * Whether the member waits after it.
     *
     * @return whether the claiming member waits after the transaction
     */
    private boolean writeOwnRecord(@Nullable PermitRecord own) {
        boolean touched = own != null || step.removed().contains(request.session());
        if (!touched) {
            return tree.waiting().containsKey(request.session());
        }
        OptionalLong place = place(own);
        if (own != null && place.isPresent()) {
            queue.waits(own, place.getAsLong(), ROOM - ops.size());
            return true;
        }
        queue.doesNotWait();
        return false;
    }

    /**
     * The position of the claiming member, if it waits. If its grant did not fit into one transaction, it is the first in the
     * queue until it has the rest: position 0 is below every index of Consul.
     */
    private OptionalLong place(@Nullable PermitRecord own) {
        if (own != null && own.permits() > ownAfter && own.permits() > ownBefore) {
            return OptionalLong.of(0);
        }
        return own == null ? OptionalLong.empty() : own.since();
    }

    /**
     * The operations that make the transaction fail if the tree is out of date. While no member waits and all use one limit, the
     * operations on the slots fail by themselves if another member has changed these slots, and the guard is only compared. So
     * members that take different slots do not conflict. In all other cases the guard is changed, and two transactions that
     * rest on the same tree exclude each other.
     */
    private List<TxnOperation> guard() {
        String name = tree.names().guard();
        Guard guard = tree.guard();
        int waitersAfter = queue.waitersAfter();
        // Nothing is left, so that the key vanishes from Consul (law 8).
        if (slotsAfter == 0 && waitersAfter == 0) {
            return guard == null
                    ? List.of(TxnOperation.checkNotExists(name))
                    : TxnOperation.deleteUnchanged(name, guard.index());
        }
        // Without a claim or an override, as when a member leaves, the guard keeps its limit.
        int limit = request.limit().orElseGet(() -> guard == null ? 0 : guard.limit());
        String value = Format.text(
                guard == null ? JsonObject.EMPTY : guard.json(), Map.of("limit", limit, "nonce", request.nonce()));
        if (guard == null) {
            // Locked by the session, so that Consul deletes it if the member crashes. The document of layout lock-file
            // must not
            // exist: this tree may only be assumed, and members of both layouts may begin to use the key at one time.
            return List.of(
                    TxnOperation.checkNotExists(tree.names().lockFile()),
                    TxnOperation.cas(name, 0, value),
                    TxnOperation.lock(name, request.session(), value));
        }
        boolean noMemberWaits = tree.waiting().isEmpty() && waitersAfter == 0;
        // Members that use different slots pass side by side: the guard stays, and each slot protects itself.
        if (noMemberWaits && request.override().isEmpty() && (highestTaken < 0 || isWithin(limit, guard))) {
            return List.of(TxnOperation.checkIndex(name, guard.index()));
        }
        // The nonce in the value gives the guard a new index, so that any other transaction on the same tree fails.
        return List.of(TxnOperation.cas(name, guard.index(), value));
    }

    /**
     * Whether the guard allows all slots: its limit is the present one, and no slot is above it. While all slots are
     * below one common limit, the number of free slots bounds the sum, whichever of them a member takes.
     */
    private boolean isWithin(int limit, Guard guard) {
        int highest = tree.slots().isEmpty() ? -1 : tree.slots().lastKey();
        return guard.limit() == limit && Math.max(highest, highestTaken) < limit;
    }
}
