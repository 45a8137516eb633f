package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * What a step makes of a snapshot, not yet committed.
 *
 * @param before the snapshot
 * @param after what the document is to say
 * @param step the difference, and the members to notify
 * @param recorded the sequence that the document then has for the claiming member. It is lower than that of the answer if
 *     the claim changes nothing else; without a claim it has no meaning
 */
record Draft(Snapshot before, KeyDocument after, Step step, long recorded) {

    static Draft of(Snapshot before, KeyTable table, Step step) {
        long sequence = step.answer().map(Holding::sequence).orElse(-1L);
        return new Draft(before, KeyDocument.of(table, before.document()), step, sequence);
    }

    boolean isUnchanged() {
        return step.isUnchanged() && after.override().equals(before.document().override());
    }

    /**
     * The same without a write, if the claim would only raise the sequence of the member's record: the re-check of a
     * waiting member, as a rule. The document keeps the lower sequence and its version, so the answer has that version,
     * and the {@linkplain LatestHolding channel} remembers which claim was answered by it. Empty if there is more to
     * write.
     */
    Optional<Draft> withoutWriting(String member) {
        boolean ownRecordOnly = step.written().size() == 1 && step.removed().isEmpty();
        if (!ownRecordOnly || !after.override().equals(before.document().override())) {
            return Optional.empty();
        }
        PermitRecord written = step.written().get(0);
        return before.document()
                .record(member)
                .filter(written::isRepetitionOf)
                .map(stored -> new Draft(before, before.document(), answerOf(stored), stored.sequence()));
    }

    private Step answerOf(PermitRecord stored) {
        Optional<Holding> answer = step.answer()
                .map(h -> new Holding(
                        h.permits(),
                        h.limit(),
                        h.sequence(),
                        stored.version(),
                        h.contended(),
                        h.over(),
                        h.recheckAfter()));
        return new Step(answer, List.of(), Set.of(), Map.of());
    }

    /**
     * One transaction. It fails unless everything is as it was in the snapshot: a node of the same name and version could
     * be another one, made after the first had vanished, so each transaction also rests on a node under it whose name is
     * used once. Where there is none, nobody is alive who needs the old node, and it is replaced.
     *
     * @param own the member's own node, {@code null} if it has joined none
     * @param joining the node by which the member joins, {@code null} if it need not
     */
    List<Op> operations(Nodes nodes, String path, @Nullable String own, @Nullable String joining, LongSupplier random) {
        List<Op> operations = new ArrayList<>();
        int version = before.version();
        if (before.children().isEmpty()) {
            if (before.exists()) {
                operations.add(Op.delete(path, version));
            }
            operations.add(nodes.create(path, CreateMode.CONTAINER));
            version = 0;
        } else {
            String guard = own != null ? own : before.children().get(0);
            operations.add(Op.check(child(path, guard), -1));
        }
        if (joining != null) {
            operations.add(nodes.create(child(path, joining), CreateMode.EPHEMERAL));
        }
        Map<String, String> members = before.members();
        step.served().forEach((member, holding) -> operations.add(note(path, members.get(member), holding)));
        keepOverride(nodes, path, random, operations);
        operations.add(Op.setData(path, after.encode(), version));
        return operations;
    }

    private Op note(String path, @Nullable String node, Holding holding) {
        if (node == null) {
            throw new IllegalStateException("Served a member without a node");
        }
        return Op.setData(child(path, node), GrantNote.encode(before.absolute(holding)), -1);
    }

    /** A key's node vanishes when nothing is under it any more; a limit of the operator must not. */
    private void keepOverride(Nodes nodes, String path, LongSupplier random, List<Op> operations) {
        Optional<String> kept = Names.override(before.children());
        if (after.override().isPresent() && kept.isEmpty()) {
            String name = Names.override(random.getAsLong());
            operations.add(nodes.create(child(path, name), CreateMode.PERSISTENT));
        } else if (after.override().isEmpty() && kept.isPresent()) {
            operations.add(Op.delete(child(path, kept.get()), -1));
        }
    }

    private static String child(String path, String name) {
        return path + "/" + name;
    }
}
