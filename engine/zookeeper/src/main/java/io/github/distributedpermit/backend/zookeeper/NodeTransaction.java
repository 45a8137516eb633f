package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.snapshot.KeyDocument;
import io.github.distributedpermit.spi.snapshot.PlannedCommit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * A planned commit as one transaction ({@code multi}) on the node of a key and those under it: all of its operations take
 * effect, or none. Others' nodes are written in it, so that a member is notified only of a grant that stands. Used once, by
 * one thread.
 *
 * <p>The version of the document orders all changes of a key: of two transactions that rest on one snapshot, one fails with a
 * conflict.
 */
final class NodeTransaction {

    private final NodeSnapshot before;
    /** Computed once, since its size is checked before it is sent. */
    private final KeyDocument document;

    private final Map<String, Holding> served;
    private final Nodes nodes;
    private final String path;

    NodeTransaction(PlannedCommit<NodeSnapshot> planned, Nodes nodes, String path) {
        this.before = planned.before();
        this.document = before.documentOf(planned.after());
        this.served = planned.step().served();
        this.nodes = nodes;
        this.path = path;
    }

    /** What the node of the key is to say. */
    KeyDocument document() {
        return document;
    }

    /**
     * The operations; the last writes the document. The transaction fails unless everything is as it was in the
     * snapshot: a node of the same name and version could be another one, made after the first had vanished, so each
     * transaction also rests on a node under it whose name is used once. Where there is none, no member that needs
     * the old node is alive, and it is replaced. The member's own node is the best guard: it exists for as long as
     * the member's records count.
     *
     * @param own the member's own node, {@code null} if it has joined none
     * @param joining the node by which the member joins, {@code null} if it need not
     */
    List<Op> operations(@Nullable String own, @Nullable String joining) {
        List<Op> operations = new ArrayList<>();
        int version = before.nodeVersion();
        if (before.children().isEmpty()) {
            if (before.exists()) {
                // Without children no member is alive. The old node is deleted, because without a child nothing proves
                // that it is still the same node.
                operations.add(Op.delete(path, version));
            }
            // The server deletes a container some time after its last child, so that unused keys vanish (law 8).
            operations.add(nodes.create(path, CreateMode.CONTAINER));
            version = 0;
        } else {
            // Any child will do for a member that has none: no name of a child is used twice.
            String guard = own != null ? own : before.children().get(0);
            operations.add(Op.check(child(guard), -1));
        }
        if (joining != null) {
            // In the same transaction as the first record: a record without a node would be dropped by the next
            // reader.
            operations.add(nodes.create(child(joining), CreateMode.EPHEMERAL));
        }
        Map<String, String> members = before.members();
        served.forEach((member, holding) -> operations.add(note(members.get(member), holding)));
        keepOverride(operations);
        operations.add(Op.setData(path, document.encode(), version));
        return operations;
    }

    /**
     * The notification of a member. The transaction fails if its node has vanished since: the member is no longer
     * alive. The node's version is not compared: each note replaces the one before.
     */
    private Op note(@Nullable String node, Holding holding) {
        if (node == null) {
            throw new IllegalStateException("Served a member without a node");
        }
        return Op.setData(child(node), GrantNote.encode(holding), -1);
    }

    /**
     * A key's node vanishes when no node is under it any more; a limit of the operator must not. The limit itself is
     * in the document. The node below it only keeps the server from deleting the container.
     */
    private void keepOverride(List<Op> operations) {
        Optional<String> kept = Names.override(before.children());
        if (document.override().isPresent() && kept.isEmpty()) {
            operations.add(nodes.create(child(Names.newOverride()), CreateMode.PERSISTENT));
        } else if (document.override().isEmpty() && kept.isPresent()) {
            operations.add(Op.delete(child(kept.get()), -1));
        }
    }

    private String child(String name) {
        return path + "/" + name;
    }
}
