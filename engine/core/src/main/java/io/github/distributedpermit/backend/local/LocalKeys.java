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
import org.jspecify.annotations.Nullable;

/**
 * The table of each key, behind that key's lock. Idle keys go without a thread: each operation looks at some of those
 * whose turn has come. Thread-safe.
 */
final class LocalKeys {

    /** What makes a step of a table at a time. */
    @FunctionalInterface
    interface Operation {
        Step apply(KeyTable table, long now);
    }

    private static final int SWEPT_PER_OPERATION = 64;

    private final ConcurrentMap<String, KeyTable> tables = new ConcurrentHashMap<>();
    private final Queue<Turn> turns = new ConcurrentLinkedQueue<>();
    private final LongSupplier ticker;
    private final long origin;
    private final Duration tombstone;
    private final BiConsumer<String, Step> told;

    LocalKeys(LongSupplier ticker, Duration tombstone, BiConsumer<String, Step> told) {
        this.ticker = ticker;
        this.origin = ticker.getAsLong();
        this.tombstone = tombstone;
        this.told = told;
    }

    /** Makes a step of a key, which comes into being if need be. */
    Step step(String key, Operation operation) {
        StackRoom.check(); // the table is this process' store: no error may leave it half changed
        AtomicReference<Step> result = new AtomicReference<>();
        tables.compute(key, (k, known) -> {
            KeyTable table = known == null ? KeyTable.leased(tombstone) : known;
            long now = now();
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
        told.accept(key, step);
        sweep();
        return step;
    }

    /** Makes a step of a key if it exists, and reads its table after it. */
    <T> Optional<T> read(String key, Operation operation, Function<KeyTable, T> reader) {
        StackRoom.check();
        AtomicReference<Optional<T>> result = new AtomicReference<>(Optional.empty());
        AtomicReference<Optional<Step>> step = new AtomicReference<>(Optional.empty());
        tables.computeIfPresent(key, (k, table) -> {
            step.setPlain(Optional.of(operation.apply(table, now())));
            result.setPlain(Optional.of(reader.apply(table)));
            return table.isEmpty() ? null : table;
        });
        step.getPlain().ifPresent(s -> told.accept(key, s));
        return result.getPlain();
    }

    /** The keys that leave something to remember. */
    Set<String> keys() {
        return tables.keySet();
    }

    /** The keys that remember something of a member; another thread may just be changing that. */
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

    /** For tests: the table as it is; only a caller that knows nobody else uses the key may read it. */
    @Nullable
    KeyTable table(String key) {
        return tables.get(key);
    }

    /** How many turns are to come; about one for each key. */
    int turns() {
        return turns.size();
    }

    /** Looks at some of the keys whose turn has come. */
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

    /** From 1, so that no version is 0. */
    private long now() {
        return (ticker.getAsLong() - origin) / 1_000 + 1;
    }

    /** When to look whether a key is idle. It knows the table, so that a key which went and came back has one turn only. */
    record Turn(String key, KeyTable table, long due) {}
}
