package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.step.KeyTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A key at one moment.
 *
 * @param document what its node says; empty if there is none
 * @param version of the node, {@link #ABSENT} if there is none
 * @param born the transaction that made the node; 0 if there is none
 * @param children the names of the nodes under it, read after the document: the other order would miss a member that
 *     joined in between, and its permits would be given away
 */
record Snapshot(KeyDocument document, int version, long born, List<String> children) {

    static final int ABSENT = -1;

    /** A key without a node. */
    static final Snapshot NOTHING = new Snapshot(KeyDocument.EMPTY, ABSENT, 0, List.of());

    /** A transaction gives away 2^8 versions at the most on the average, so that later nodes have higher ones. */
    private static final int VERSION_BITS = 8;

    boolean exists() {
        return version != ABSENT;
    }

    boolean isOf(Snapshot other) {
        return version == other.version && born == other.born;
    }

    /** The newest node of each member that is alive. */
    Map<String, String> members() {
        return Names.members(children);
    }

    /** The records of those that are alive. */
    KeyTable table() {
        KeyTable table = document.table();
        table.retain(members().keySet());
        return table;
    }

    Snapshot with(String child) {
        if (children.contains(child)) {
            return this;
        }
        List<String> more = new ArrayList<>(children);
        more.add(child);
        return new Snapshot(document, version, born, more);
    }

    /** From a version within the node's life to one that never falls, whatever becomes of the node. */
    long absolute(long relative) {
        return (born << VERSION_BITS) + relative;
    }

    long relative(long absolute) {
        return absolute - (born << VERSION_BITS);
    }

    Holding absolute(Holding h) {
        return new Holding(
                h.permits(), h.limit(), h.sequence(), absolute(h.version()), h.contended(), h.over(), h.recheckAfter());
    }
}
