package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.List;
import java.util.Optional;

/** A key of a store that keeps its records in a list. */
record TableSnapshot(List<PermitRecord> records, OverrideLimit override, long version) implements Snapshot {

    static final TableSnapshot EMPTY = new TableSnapshot(List.of(), OverrideLimit.empty(), 0);

    /** What a step made of a table. */
    static TableSnapshot of(KeyTable after) {
        return new TableSnapshot(List.copyOf(after.records()), after.override(), after.version());
    }

    @Override
    public KeyTable table() {
        return KeyTable.ofSessions(records, override, version);
    }

    @Override
    public Optional<PermitRecord> record(String member) {
        return records.stream().filter(r -> r.member().equals(member)).findFirst();
    }
}
