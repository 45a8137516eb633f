package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.time.Instant;
import java.util.Optional;

/**
 * All that a store has recorded for one key, at one moment. Immutable. Members are named as in {@link StoreSession}: a
 * store may name them by their sessions.
 *
 * <p>A {@link SnapshotStore} creates it from a read, or from the answer to its own transaction. {@link CommitAttempt}
 * computes steps on it, and {@link SnapshotCache} keeps the last one of a key.
 */
public interface Snapshot {

    /**
     * The highest version, or index of a change, that the store has recorded for the key. It never falls, also not when
     * the key vanishes and is made anew, as far as anything of the key can still be seen. The position of a new waiter in
     * the queue follows from it.
     */
    long version();

    /**
     * The records of the members that are alive, for one step; a new table with each call. A store that does not
     * record the sequence of a member's last claim gives its record the sequence -1. The step changes the table, so
     * that a shared one would make a repeated attempt start from a state that was never stored.
     */
    KeyTable table();

    /**
     * What is recorded for a member, without building the table. The worker calls it for each answer, also for keys
     * with many members.
     */
    Optional<PermitRecord> record(String member);

    /**
     * The version to give to a state of the member that it finds in this snapshot. Together with the sequence of its last
     * claim it orders answers and notifications, and it is part of the fencing token: no other member of the key may get
     * the same version for a grant.
     *
     * @param last the version that the member was given last in this session; 0 if none. A lower one is never used
     */
    default long version(String member, long last) {
        return record(member).map(PermitRecord::version).orElse(version() + 1);
    }

    /** The clock of the store when it was read, if the store has one; for overrides that end. */
    default Optional<Instant> time() {
        return Optional.empty();
    }

    /** The id of the process behind a member, for operators. */
    default String process(String member) {
        return member;
    }
}
