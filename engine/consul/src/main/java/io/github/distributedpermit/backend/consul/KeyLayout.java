package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.step.Step;
import java.util.List;

/** How the permits of a key lie in Consul. */
interface KeyLayout {

    static KeyLayout of(ConsulLayout layout) {
        return layout == ConsulLayout.SLOTS ? new Slots() : new LockFile();
    }

    /** What a member assumes of a key it has not used lately. */
    KeyTree assumedUnused(KeyNames names);

    /** Reads a tree; what is damaged, or foreign under a name of ours, fails permanently. */
    KeyTree read(KeyNames names, List<KeyValue> tree);

    /** The operations that make of a tree what a step says. */
    PlannedTransaction plan(KeyTree tree, Step step, ChangeRequest request);

    /** {@link ConsulLayout#SLOTS}. */
    final class Slots implements KeyLayout {

        @Override
        public KeyTree assumedUnused(KeyNames names) {
            return SlotTree.assumedUnused(names);
        }

        @Override
        public KeyTree read(KeyNames names, List<KeyValue> tree) {
            return SlotTree.of(names, tree);
        }

        @Override
        public PlannedTransaction plan(KeyTree tree, Step step, ChangeRequest request) {
            return SlotPlan.of((SlotTree) tree, step, request);
        }
    }

    /** {@link ConsulLayout#LOCK_FILE}. */
    final class LockFile implements KeyLayout {

        @Override
        public KeyTree assumedUnused(KeyNames names) {
            return LockFileTree.of(names, List.of());
        }

        @Override
        public KeyTree read(KeyNames names, List<KeyValue> tree) {
            return LockFileTree.of(names, tree);
        }

        @Override
        public PlannedTransaction plan(KeyTree tree, Step step, ChangeRequest request) {
            return LockFilePlan.of((LockFileTree) tree, step, request);
        }
    }
}
