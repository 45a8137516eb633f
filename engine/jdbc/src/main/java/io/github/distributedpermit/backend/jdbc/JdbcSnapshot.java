package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.spi.snapshot.BatchingSnapshotStore;
import io.github.distributedpermit.spi.snapshot.KeyDocument;
import io.github.distributedpermit.spi.snapshot.Snapshot;
import io.github.distributedpermit.spi.step.Grace;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The row of a key, and which members are alive. Immutable.
 *
 * @param revision of the row, another after each change; 0 if there is no row
 * @param document what the row says; without a row its version is the clock of the database, in microseconds, so that versions
 *     go on rising when the row of an unused key was deleted
 * @param live the sessions that have a row of their own
 * @param epoch of the database; the document has no records of an earlier one
 * @param pool how many permits came back in the grace of this epoch
 */
record JdbcSnapshot(long revision, KeyDocument document, Set<String> live, Epoch epoch, int pool) implements Snapshot {

    /** The row of a key without records, override and additions of newer versions. */
    static final String EMPTY = "";

    /**
     * From a row.
     *
     * @param touched the version of an empty document
     */
    static KeyDocument decode(String text, long touched) {
        return text.equals(EMPTY)
                ? KeyDocument.unused(touched)
                : KeyDocument.decode(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Override
    public long version() {
        return document.ticks();
    }

    @Override
    public KeyTable table() {
        Grace grace = Grace.ofSessions(epoch.number(), epoch.graceEnd(version()), pool);
        KeyTable table = KeyTable.ofSessions(document.records(), document.override(), version(), grace);
        table.retain(live);
        return table;
    }

    /** Also of a member that has died. The table decides whether it counts. */
    @Override
    public Optional<PermitRecord> record(String member) {
        return document.record(member);
    }

    @Override
    public Optional<Instant> time() {
        return Optional.of(Instant.ofEpochMilli(epoch.now() / 1_000));
    }

    @Override
    public String process(String member) {
        return BatchingSnapshotStore.process(member);
    }

    /** What a change makes of it. */
    JdbcSnapshot with(KeyTable after) {
        KeyDocument changed =
                new KeyDocument(after.version(), after.override(), List.copyOf(after.records()), document.newer());
        return new JdbcSnapshot(nextRevision(), changed, live, epoch, after.pool());
    }

    /** A new row begins at the clock of the database, above all revisions of an earlier one. */
    private long nextRevision() {
        return revision == 0 ? version() : revision + 1;
    }

    /** The text of the row. */
    String encode() {
        return document.isUnused() ? EMPTY : new String(document.encode(), StandardCharsets.ISO_8859_1);
    }
}
