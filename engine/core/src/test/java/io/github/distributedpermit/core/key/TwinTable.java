package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** The real step and the model, side by side: whatever they do not agree on is an error of one of them. */
final class TwinTable implements SimTable {

    private final StepTable real;
    private final ModelTable model;

    /** With a mistake in the model the two differ, as they would with that mistake in the step. */
    TwinTable(Duration tombstone, ModelTable.@Nullable Mistake mistake) {
        real = new StepTable(tombstone);
        model = new ModelTable(tombstone, mistake);
    }

    @Override
    public Outcome claim(String member, Claim claim, long now) {
        return same(real.claim(member, claim, now), model.claim(member, claim, now), claim);
    }

    @Override
    public Outcome override(OverrideLimit limit, long now) {
        return same(real.override(limit, now), model.override(limit, now), "override " + limit);
    }

    @Override
    public Outcome refresh(long now) {
        return same(real.refresh(now), model.refresh(now), "refresh");
    }

    @Override
    public Outcome leave(String member, long now) {
        return same(real.leave(member, now), model.leave(member, now), "leave");
    }

    private Outcome same(Outcome one, Outcome other, Object operation) {
        if (!one.equals(other) || !sorted(real.rows()).equals(sorted(model.rows()))) {
            throw new AssertionError("The step and the model differ after " + operation + ": " + one + " " + real.rows()
                    + " but " + other + " " + model.rows());
        }
        return one;
    }

    private static List<Row> sorted(Iterable<Row> rows) {
        return StreamSupport.stream(rows.spliterator(), false)
                .sorted(Comparator.comparing(Row::member))
                .toList();
    }

    @Override
    public Iterable<Row> rows() {
        return real.rows();
    }

    @Override
    public @Nullable Row row(String member) {
        return real.row(member);
    }

    @Override
    public int used() {
        return real.used();
    }

    @Override
    public OverrideLimit override() {
        return real.override();
    }

    @Override
    public boolean isEmpty() {
        return real.isEmpty();
    }
}
