package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.step.Step;
import java.util.List;

/** How the permits of a key lie in Consul. */
interface KeyLayout {

    static KeyLayout of(ConsulLayout layout) {
        return layout == ConsulLayout.SLOTS ? new Slots() : new LockFiles();
    }

    /** What a member assumes of a key it has not used lately. */
    Board assumedIdle(KeyNames names);

    /** Reads a tree; what is damaged, or not ours at a place of ours, fails for good. */
    Board read(KeyNames names, List<Entry> tree);

    /** The operations that make of a board what a step says. */
    Change plan(Board board, Step step, Intent intent);

    /** {@link ConsulLayout#SLOTS}. */
    final class Slots implements KeyLayout {

        @Override
        public Board assumedIdle(KeyNames names) {
            return SlotBoard.assumedIdle(names);
        }

        @Override
        public Board read(KeyNames names, List<Entry> tree) {
            return SlotBoard.of(names, tree);
        }

        @Override
        public Change plan(Board board, Step step, Intent intent) {
            return SlotPlan.of((SlotBoard) board, step, intent);
        }
    }

    /** {@link ConsulLayout#LOCK_FILE}. */
    final class LockFiles implements KeyLayout {

        @Override
        public Board assumedIdle(KeyNames names) {
            return LockBoard.of(names, List.of());
        }

        @Override
        public Board read(KeyNames names, List<Entry> tree) {
            return LockBoard.of(names, tree);
        }

        @Override
        public Change plan(Board board, Step step, Intent intent) {
            return LockPlan.of((LockBoard) board, step, intent);
        }
    }
}
