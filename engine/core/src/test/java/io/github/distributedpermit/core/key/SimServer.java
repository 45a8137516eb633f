package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The store itself: its tables, on its own clock. A step takes no time. */
final class SimServer {

    /** Called after each step; throws if it breaks an invariant. */
    interface Inspector {
        void stepped(String key, SimTable table, @Nullable String claimer, @Nullable Claim claim, SimTable.Outcome out);
    }

    /** Where pushed grants go. */
    interface Pushes {
        void push(String member, String key, Holding holding);
    }

    private static final long EPOCH_MICROS = 1_000_000;

    private final Timeline time;
    private final Supplier<SimTable> newTable;
    private final Map<String, SimTable> tables = new HashMap<>();
    private final Pushes pushes;
    Inspector inspector = (key, table, claimer, claim, out) -> {};

    SimServer(Timeline time, Supplier<SimTable> newTable, Pushes pushes) {
        this.time = time;
        this.newTable = newTable;
        this.pushes = pushes;
    }

    long clock() {
        return EPOCH_MICROS + time.now() / 1_000;
    }

    Holding claim(String member, Claim claim) {
        SimTable table = table(claim.key());
        SimTable.Outcome out = table.claim(member, claim, clock());
        done(claim.key(), table, member, claim, out);
        Holding answer = out.answer();
        if (answer == null) {
            throw new AssertionError("A claim without an answer");
        }
        return answer;
    }

    void override(String key, OverrideLimit limit) {
        SimTable table = table(key);
        done(key, table, null, null, table.override(limit, clock()));
    }

    /** What an operation on any key does to this one in time. */
    void refresh(String key) {
        SimTable table = tables.get(key);
        if (table != null) {
            done(key, table, null, null, table.refresh(clock()));
        }
    }

    /** The store forgets everything. */
    void empty() {
        tables.clear();
    }

    private SimTable table(String key) {
        return tables.computeIfAbsent(key, absent -> newTable.get());
    }

    private void done(
            String key, SimTable table, @Nullable String claimer, @Nullable Claim claim, SimTable.Outcome out) {
        inspector.stepped(key, table, claimer, claim, out);
        out.served().forEach((member, holding) -> pushes.push(member, key, holding));
        if (table.isEmpty()) {
            tables.remove(key);
        }
    }

    @Nullable
    SimTable find(String key) {
        return tables.get(key);
    }

    Iterable<String> keys() {
        return tables.keySet();
    }
}
