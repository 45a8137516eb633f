package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.SlotBoard.Guard;
import io.github.distributedpermit.backend.consul.SlotBoard.Slot;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.Step;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The difference between a board and what a step makes of it, as operations of one transaction. Consul takes 64 of
 * them; what does not fit follows in the next. Used once, by one thread.
 */
final class SlotPlan {

    /** 64 without the fence, the guard (3), the final get-tree, the own record, the own inbox and the override. */
    private static final int ROOM = 56;
    /** What a served member needs besides its slots: its record and its notice. */
    private static final int TELLING = 2;
    /** What a slot costs that changes hands or comes into being. */
    private static final int SLOT_COST = 2;

    private final SlotBoard board;
    private final Step step;
    private final Intent intent;
    private final Map<String, PermitRecord> written = new HashMap<>();
    private final List<Op> ops = new ArrayList<>();
    private final Deque<Slot> freed;
    private final int ownBefore;
    private int ownAfter;
    private int room = ROOM;
    private int slotsAfter;
    private int highestTaken = -1;
    private int lowestTaken;
    private int nextFree;
    private int waitersAfter;
    private boolean whole = true;

    private SlotPlan(SlotBoard board, Step step, Intent intent) {
        this.board = board;
        this.step = step;
        this.intent = intent;
        step.written().forEach(record -> written.put(record.member(), record));
        slotsAfter = board.slots().size();
        waitersAfter = board.waiting().size();
        List<Slot> own = board.slotsOf(intent.session());
        ownBefore = own.size();
        ownAfter = Math.min(ownBefore, target(intent.session(), ownBefore));
        freed = new ArrayDeque<>(own.subList(ownAfter, ownBefore));
    }

    static Change of(SlotBoard board, Step step, Intent intent) {
        return new SlotPlan(board, step, intent).build();
    }

    private Change build() {
        for (Map.Entry<String, Holding> served : step.served().entrySet()) {
            // the member itself is served below, without a notice
            if (whole && !served.getKey().equals(intent.session())) {
                serve(served.getKey(), served.getValue());
            }
        }
        PermitRecord own = written.get(intent.session());
        if (own != null && own.permits() > ownBefore && whole) {
            ownAfter += take(intent.session(), intent.member(), own.limit(), own.permits() - ownBefore, room);
        }
        boolean isPart = !dropFreed();
        boolean queues = writeOwnRecord(own);
        if (intent.inbox() && ownAfter == 0 && !queues) {
            ops.add(Op.delete(board.names().inbox(intent.session())));
        }
        intent.override().ifPresent(this::writeOverride);
        boolean isPlain = board.waiting().isEmpty()
                && waitersAfter == 0
                && intent.override().isEmpty()
                && ownAfter == intent.wanted();
        if (!ops.isEmpty()) {
            ops.addAll(0, guard());
        }
        return new Change(List.copyOf(ops), isPlain, isPart, ownAfter > ownBefore, queues, 1);
    }

    private int target(String session, int unchanged) {
        if (step.removed().contains(session)) {
            return 0;
        }
        PermitRecord record = written.get(session);
        return record == null ? unchanged : record.permits();
    }

    /** Gives a waiter what the step grants it. Told only when it has all of it. */
    private void serve(String session, Holding holding) {
        Waiting waiting = board.waiting().get(session);
        PermitRecord record = written.get(session);
        if (waiting == null || record == null) {
            throw new IllegalStateException("Only who waits is served: " + session);
        }
        List<Slot> held = board.slotsOf(session);
        int missing = holding.permits() - held.size();
        int given = take(session, waiting.member(), record.limit(), missing, room - TELLING);
        if (given < missing) {
            return; // it keeps its record and with it its place; the next transaction goes on with it
        }
        room -= TELLING;
        String name = board.names().waiting(session);
        if (record.inLine()) {
            ops.add(Op.cas(
                    name, waiting.index(), waiting.text(record, record.since().orElseThrow())));
        } else {
            ops.add(Op.deleteCas(name, waiting.index()));
            waitersAfter--;
        }
        int lowest =
                held.isEmpty() ? lowestTaken : Math.min(lowestTaken, held.get(0).number());
        String notice = new Notice(holding, lowest, intent.nonce()).text();
        ops.add(Op.lock(board.names().inbox(session), session, notice));
    }

    /** Takes freed slots first, then new ones; as many as there is room for. */
    private int take(String session, String member, int limit, int count, int budget) {
        int given = Math.min(count, Math.max(0, budget / SLOT_COST));
        lowestTaken = Integer.MAX_VALUE;
        String value = Format.text(Map.of("member", member, "limit", limit));
        for (int i = 0; i < given; i++) {
            Slot slot = freed.poll();
            int number = slot == null ? freeNumber() : slot.number();
            String name = board.names().slot(number);
            ops.add(slot == null ? Op.checkNotExists(name) : Op.unlock(name, intent.session()));
            ops.add(Op.lock(name, session, value));
            slotsAfter += slot == null ? 1 : 0;
            highestTaken = Math.max(highestTaken, number);
            lowestTaken = Math.min(lowestTaken, number);
            room -= SLOT_COST;
        }
        whole = given == count;
        return given;
    }

    private int freeNumber() {
        while (board.slots().containsKey(nextFree)) {
            nextFree++;
        }
        return nextFree++;
    }

    /** Deletes what nobody takes; {@code false} if some had to stay. */
    private boolean dropFreed() {
        while (!freed.isEmpty() && room > 0) {
            // the lowest stay
            Slot slot = freed.removeLast();
            ops.add(Op.deleteCas(board.names().slot(slot.number()), slot.index()));
            slotsAfter--;
            room--;
        }
        ownAfter += freed.size();
        return freed.isEmpty();
    }

    /** Whether the member stands in line after it. */
    private boolean writeOwnRecord(@Nullable PermitRecord own) {
        Waiting known = board.waiting().get(intent.session());
        String name = board.names().waiting(intent.session());
        boolean touched = own != null || step.removed().contains(intent.session());
        if (!touched) {
            return known != null;
        }
        OptionalLong place = place(own);
        if (own != null && place.isPresent()) {
            if (known == null) {
                ops.add(Op.lock(name, intent.session(), Waiting.text(own, intent.member(), place.getAsLong())));
                waitersAfter++;
            } else if (!known.isSame(own, place.getAsLong())) {
                ops.add(Op.cas(name, known.index(), known.text(own, place.getAsLong())));
            }
            return true;
        }
        if (known != null) {
            ops.add(Op.deleteCas(name, known.index()));
            waitersAfter--;
        }
        return false;
    }

    /** Who could not be given all at once stands in front of everybody until it has the rest. */
    private OptionalLong place(@Nullable PermitRecord own) {
        if (own != null && own.permits() > ownAfter && own.permits() > ownBefore) {
            return OptionalLong.of(0);
        }
        return own == null ? OptionalLong.empty() : own.since();
    }

    private void writeOverride(OptionalInt limit) {
        String name = board.names().override();
        if (limit.isPresent()) {
            ops.add(Op.set(name, JsonText.of(Map.of("limit", limit.getAsInt()))));
        } else {
            ops.add(Op.delete(name));
        }
    }

    /**
     * What makes the transaction fail if the board is out of date. While nobody waits and all go by one limit, the slots
     * guard themselves, and it is enough that the guard has not changed: members don't get in each other's way. All else
     * changes the guard.
     */
    private List<Op> guard() {
        String name = board.names().line();
        Guard guard = board.line();
        if (slotsAfter == 0 && waitersAfter == 0) {
            return List.of(guard == null ? Op.checkNotExists(name) : Op.deleteCas(name, guard.index()));
        }
        int limit = intent.limit().orElseGet(() -> guard == null ? 0 : guard.limit());
        String value = Format.text(
                guard == null ? JsonObject.EMPTY : guard.json(), Map.of("limit", limit, "nonce", intent.nonce()));
        if (guard == null) {
            // bound to a session, so that it goes with the last member even if that dies
            return List.of(
                    Op.checkNotExists(board.names().lockFile()),
                    Op.cas(name, 0, value),
                    Op.lock(name, intent.session(), value));
        }
        boolean nobodyWaits = board.waiting().isEmpty() && waitersAfter == 0;
        if (nobodyWaits && intent.override().isEmpty() && (highestTaken < 0 || isWithin(limit, guard))) {
            return List.of(Op.checkIndex(name, guard.index()));
        }
        return List.of(Op.cas(name, guard.index(), value));
    }

    private boolean isWithin(int limit, Guard guard) {
        int highest = board.slots().isEmpty() ? -1 : board.slots().lastKey();
        return guard.limit() == limit && Math.max(highest, highestTaken) < limit;
    }
}
