package io.github.distributedpermit.backend.consul;

import java.util.List;

/** Reads the entries of a permit key as one of the two layouts. Stateless. */
interface KeyLayout {

    /** Every member of a key has to use the same one; each refuses the entries of the other. */
    static KeyLayout of(ConsulLayout layout) {
        return layout == ConsulLayout.SLOTS ? SlotTree::of : LockFileTree::of;
    }

    /** Reads a tree; what is damaged, or foreign under a name of ours, fails permanently. */
    KeyTree read(KeyNames names, List<KeyValue> tree);
}
