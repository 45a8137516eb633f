package io.github.distributedpermit.backend.h2;

import io.github.distributedpermit.spi.snapshot.Snapshot;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
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

    /** A member's name is its id and the number of its session. */
    @Override
    public String process(String member) {
        return member.substring(0, member.lastIndexOf('~'));
    }

    /** What a step made of this one, once it is committed. */
    H2Snapshot with(long newRevision, KeyTable after) {
        return new H2Snapshot(newRevision, after.version(), after.override(), List.copyOf(after.records()), live);
    }

    /** One line for the key, then one for each member. */
    static String encode(KeyTable table) {
        String override = table.override().isPresent() ? "" + table.override().getAsInt() : "-";
        return override
                + table.records().stream()
                        .map(r -> "\n%s %d %d %d %d %d %d %d %s"
                                .formatted(
                                        r.member(),
                                        r.permits(),
                                        r.sequence(),
                                        r.version(),
                                        r.wanted(),
                                        r.unit(),
                                        r.least(),
                                        r.limit(),
                                        r.since().isPresent() ? r.since().getAsLong() : "-"))
                        .collect(Collectors.joining());
    }

    static H2Snapshot decode(long revision, long version, String document, Set<String> live) {
        String[] lines = document.split("\n", -1);
        List<PermitRecord> records = new ArrayList<>();
        for (int i = 1; i < lines.length; i++) {
            String[] f = lines[i].split(" ", -1);
            OptionalLong since = f[8].equals("-") ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(f[8]));
            records.add(new PermitRecord(
                    f[0],
                    Integer.parseInt(f[1]),
                    Long.parseLong(f[2]),
                    Long.parseLong(f[3]),
                    Integer.parseInt(f[4]),
                    Integer.parseInt(f[5]),
                    Integer.parseInt(f[6]),
                    Integer.parseInt(f[7]),
                    since,
                    PermitRecord.NEVER));
        }
        OptionalInt override = lines[0].equals("-") ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(lines[0]));
        return new H2Snapshot(revision, version, override, records, live);
    }
}
