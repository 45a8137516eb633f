package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.snapshot.Snapshot;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.Optional;

/**
 * The {@link Snapshot} of the layer: the tree of a key, and how this member received it. Members are named by their
 * sessions. Immutable.
 *
 * @param tree all keys of the permit key
 * @param seen the highest index of a change of the key that this member has received; keys with that index may have been
 *     deleted since
 * @param own whether a transaction of this member returned the tree
 */
record ConsulSnapshot(KeyTree tree, long seen, boolean own) implements Snapshot {

    /** An index of Raft: it never falls, also if the key is deleted and created again. */
    @Override
    public long version() {
        return tree.index();
    }

    @Override
    public KeyTable table() {
        return tree.table();
    }

    @Override
    public Optional<PermitRecord> record(String member) {
        return tree.record(member);
    }

    /**
     * Consul records no version of a member. It is computed from the index and the places of the permits, see {@link
     * GrantVersion}.
     */
    @Override
    public long version(String member, long last) {
        int place = tree.lowestPlace(member).orElse(GrantVersion.NO_PLACE);
        return GrantVersion.ofAnswer(Math.max(seen, tree.index()), own, place, last);
    }

    @Override
    public String process(String member) {
        return tree.member(member);
    }
}
