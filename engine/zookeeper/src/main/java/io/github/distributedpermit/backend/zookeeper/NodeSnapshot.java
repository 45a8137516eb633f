package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.snapshot.KeyDocument;
import io.github.distributedpermit.spi.snapshot.Snapshot;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A key at one moment: its node, and the names of the nodes under it. The document counts versions and positions from the
 * creation of the node; here they are raised by a number that never falls, whatever becomes of the node. Immutable.
 *
 * @param document what its node says; empty if there is none
 * @param nodeVersion of the node, {@link #ABSENT} if there is none
 * @param born the transaction that made the node; 0 if there is none
 * @param children the names of the nodes under it, read after the document: the other order would miss a member that
 *     joined in between, and its permits would be given away
 */
record NodeSnapshot(KeyDocument document, int nodeVersion, long born, List<String> children) implements Snapshot {

    /** Stands for a missing node in place of its version. */
    static final int ABSENT = -1;
    /** A key without a node. */
    static final NodeSnapshot NOTHING = new NodeSnapshot(KeyDocument.EMPTY, ABSENT, 0, List.of());
    /**
     * The number of the transaction that made the node is shifted by these bits. A later node begins above all versions of an
     * earlier one, as long as that one used 256 versions per transaction of the ensemble at most, on the average.
     */
    private static final int VERSION_BITS = 8;

    /** Whether the key has a node. */
    boolean exists() {
        return nodeVersion != ABSENT;
    }

    /** The newest node of each member that is alive. */
    Map<String, String> members() {
        return Names.members(children);
    }

    @Override
    public long version() {
        return base() + document.ticks();
    }

    /**
     * Records of members without a node are dropped: their sessions have ended, or an operator has evicted them. The
     * step then serves the queue with their permits.
     */
    @Override
    public KeyTable table() {
        List<PermitRecord> records =
                document.records().stream().map(r -> shifted(r, base())).toList();
        KeyTable table = KeyTable.ofSessions(records, document.override(), version());
        table.retain(members().keySet());
        return table;
    }

    /** Also if the member's node has vanished. The table decides whether it counts. */
    @Override
    public Optional<PermitRecord> record(String member) {
        return document.record(member).map(r -> shifted(r, base()));
    }

    /**
     * The document that says what a table does, and keeps what this version does not know.
     *
     * @param after the table of this snapshot, changed by a step
     */
    KeyDocument documentOf(KeyTable after) {
        List<PermitRecord> records =
                after.records().stream().map(r -> shifted(r, -base())).toList();
        return new KeyDocument(after.version() - base(), after.override(), records, document.newer());
    }

    /**
     * The number by which versions and positions are raised: it grows with each new node of the key. A new node is
     * created by a later transaction than every change of the old one.
     */
    private long base() {
        return born << VERSION_BITS;
    }

    /** Shifts the version and the position of a record. */
    private static PermitRecord shifted(PermitRecord r, long by) {
        OptionalLong since = r.since().isPresent() ? OptionalLong.of(r.since().getAsLong() + by) : r.since();
        return new PermitRecord(
                r.member(),
                r.permits(),
                r.sequence(),
                r.version() + by,
                r.wanted(),
                r.weightOfHead(),
                r.least(),
                r.limit(),
                since,
                r.shown(),
                r.expiry());
    }

    /**
     * The same with the node of a member that has joined.
     *
     * @param child the name of its node
     */
    NodeSnapshot with(String child) {
        if (children.contains(child)) {
            return this;
        }
        List<String> more = new ArrayList<>(children);
        more.add(child);
        return new NodeSnapshot(document, nodeVersion, born, more);
    }
}
