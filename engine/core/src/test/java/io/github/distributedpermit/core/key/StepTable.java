package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The real step. */
final class StepTable implements SimTable {

    private final KeyTable table;

    StepTable(Duration tombstone) {
        table = KeyTable.leased(tombstone);
    }

    @Override
    public Outcome claim(String member, Claim claim, long now) {
        return outcome(
                table.claim(member, claim, now, now - claim.head().waited().toNanos() / 1_000));
    }

    @Override
    public Outcome override(OverrideLimit limit, long now) {
        return outcome(table.override(limit, now));
    }

    @Override
    public Outcome refresh(long now) {
        return outcome(table.refresh(now));
    }

    @Override
    public Outcome leave(String member, long now) {
        return outcome(table.remove(member, now));
    }

    private static Outcome outcome(Step step) {
        return new Outcome(step.answer().orElse(null), step.served());
    }

    @Override
    public List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        for (PermitRecord r : table.records()) {
            rows.add(row(r));
        }
        return rows;
    }

    @Override
    public @Nullable Row row(String member) {
        for (PermitRecord r : table.records()) {
            if (r.member().equals(member)) {
                return row(r);
            }
        }
        return null;
    }

    static int lacks(int permits, int least) {
        return Math.max(1, least - permits);
    }

    private static Row row(PermitRecord r) {
        return new Row(
                r.member(),
                r.permits(),
                r.wanted(),
                r.weightOfHead(),
                lacks(r.permits(), r.least()),
                r.limit(),
                r.sequence(),
                r.since(),
                r.expiry());
    }

    @Override
    public int used() {
        return table.used();
    }

    @Override
    public OverrideLimit override() {
        return table.override();
    }

    @Override
    public boolean isEmpty() {
        return table.isEmpty();
    }
}
