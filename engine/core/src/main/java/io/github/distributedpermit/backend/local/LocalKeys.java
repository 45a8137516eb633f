package io.github.distributedpermit.backend.local;

import io.github.distributedpermit.spi.StackRoom;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The table of each key, guarded by the lock that the map holds while it computes that key's entry. Keys that are not used
 * any more are removed without a thread of its own: each operation looks at some of those that are due. Thread-safe.
 */
final class LocalKeys {

    /** Computes a step of a table at a time. */
    @FunctionalInterface
    interface Operation {
        Step apply(KeyTable table, long now);
    }

    private static final int SWEPT_PER_OPERATION = 64;

    final ConcurrentMap<String, KeyTable> tables = new ConcurrentHashMap<>();
    /** When to look at which key; about one entry for each. */
    final Queue<Turn> turns = new ConcurrentLinkedQueue<>();

    private final LongSupplier ticker;
    private final long origin;
    private final Duration tombstone;
    private final BiConsumer<String, Step> served;

    LocalKeys(LongSupplier ticker, Duration tombstone, BiConsumer<String, Step> served) {
        this.ticker = ticker;
        this.origin = ticker.getAsLong();
        this.tombstone = tombstone;
        this.served = served;
    }

    /** Makes a step of a key, which is created if need be, and notifies the members it serves. */
    Step step(String key, Operation operation) {
        StackRoom.checkForClient();
        AtomicReference<Step> result = new AtomicReference<>();
        tables.compute(key, (k, known) -> {
            KeyTable table = known == null ? KeyTable.leased(tombstone) : known;
            long now = now();
            table.undo();
            result.setPlain(operation.apply(table, now));
            if (table.isEmpty()) {
                return null;
            }
            if (known == null) {
                turns.add(new Turn(key, table, now + TimeUnit.MICROSECONDS.convert(tombstone)));
            }
            return table;
        });
        Step step = result.getPlain();
        served.accept(key, step);
        sweep();
        return step;
    }

    /** Makes a step of a key if it exists, and reads its table after it. */
    <T> Optional<T> read(String key, Operation operation, Function<KeyTable, T> reader) {
        StackRoom.checkForClient();
        AtomicReference<Optional<T>> result = new AtomicReference<>(Optional.empty());
        AtomicReference<Optional<Step>> step = new AtomicReference<>(Optional.empty());
        tables.computeIfPresent(key, (k, table) -> {
            table.undo();
            step.setPlain(Optional.of(operation.apply(table, now())));
            result.setPlain(Optional.of(reader.apply(table)));
            return table.isEmpty() ? null : table;
        });
        step.getPlain().ifPresent(s -> served.accept(key, s));
        return result.getPlain();
    }

    /** The keys that have a table. */
    Set<String> keys() {
        return tables.keySet();
    }

    /** The keys that have a record of a member; another thread may be changing that. */
    List<String> ofMember(String member) {
        List<String> found = new ArrayList<>();
        for (String key : tables.keySet()) {
            tables.computeIfPresent(key, (k, table) -> {
                if (table.view(member, now()).isPresent()) {
                    found.add(k);
                }
                return table;
            });
        }
        return found;
    }

    /** Removes some of the keys that are due and have no record any more. */
    void sweep() {
        long now = now();
        for (int i = 0; i < SWEPT_PER_OPERATION; i++) {
            Turn next = turns.peek();
            if (next == null || next.due() > now) {
                return;
            }
            Turn turn = turns.poll();
            if (turn != null && tables.get(turn.key()) == turn.table()) {
                boolean idle =
                        read(turn.key(), KeyTable::refresh, KeyTable::isEmpty).orElse(true);
                if (!idle) {
                    turns.add(new Turn(turn.key(), turn.table(), now + TimeUnit.MICROSECONDS.convert(tombstone)));
                }
            }
        }
    }

    /** Microseconds since the start, beginning with 1 so that no version is 0. */
    private long now() {
        return (ticker.getAsLong() - origin) / 1_000 + 1;
    }

    /** When to look whether a key is used. It has the table, so that a key that was removed and created again has one turn. */
    record Turn(String key, KeyTable table, long due) {}
}
