package io.github.distributedpermit.backend.h2;

import io.github.distributedpermit.spi.snapshot.BlockingSnapshotStore;
import io.github.distributedpermit.spi.snapshot.RecordText;
import io.github.distributedpermit.spi.snapshot.Snapshot;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The row of a key, and who is alive. Immutable.
 *
 * @param revision of the row, different after each write; 0 if there is none
 * @param live names of the members whose sessions live
 */
record H2Snapshot(long revision, long version, OptionalInt override, List<PermitRecord> records, Set<String> live)
        implements Snapshot {

    @Override
    public KeyTable table() {
        KeyTable table = KeyTable.ofSessions(records, override, version);
        table.retain(live);
        return table;
    }

    @Override
    public Optional<PermitRecord> record(String member) {
        return records.stream().filter(r -> r.member().equals(member)).findFirst();
    }

    @Override
    public String process(String member) {
        return BlockingSnapshotStore.process(member);
    }

    /** What a step made of this one, once it is committed. */
    H2Snapshot with(long newRevision, KeyTable after) {
        return new H2Snapshot(newRevision, after.version(), after.override(), List.copyOf(after.records()), live);
    }

    /** One line for the key, then one for each member. */
    static String encode(KeyTable table) {
        return RecordText.of(table.override())
                + table.records().stream().map(r -> "\n" + RecordText.of(r)).collect(Collectors.joining());
    }

    static H2Snapshot decode(long revision, long version, String document, Set<String> live) {
        String[] lines = document.split("\n", -1);
        List<PermitRecord> records = Arrays.stream(lines, 1, lines.length)
                .map(line -> RecordText.record(line.split(" ", -1)))
                .toList();
        return new H2Snapshot(revision, version, RecordText.override(lines[0]), records, live);
    }
}
