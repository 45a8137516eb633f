package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * All that Consul has of one permit key, at one moment: the {@linkplain KeyEntries entries} that both layouts have, and the
 * permits, which each layout stores in its own way. Members are named by their sessions: an instance that lost one is
 * another member with the next. Immutable.
 */
interface KeyTree {

    /**
     * The permits of one member, or of one session of other clients.
     *
     * @param permits how many it holds
     * @param limit the highest that it declared when it got one of them
     */
    record Held(int permits, int limit) {

        static final Held NOTHING = new Held(0, 0);

        Held plus(Held more) {
            return new Held(permits + more.permits, Math.max(limit, more.limit));
        }
    }

    KeyEntries entries();

    /**
     * The permits by session, those of members by their first one. For the step and for inspections; a session that
     * holds nothing is not in the map.
     */
    Map<String, Held> held();

    /** Permits in use. Includes the permits of other clients in layout lock-file. */
    int used();

    /**
     * The members of this library that hold permits, as far as the tree shows that their first sessions are alive. A
     * {@link ContentionNotice} is locked by their sessions, so that an ended one would make its transaction fail.
     */
    Set<String> holdingMembers();

    /**
     * A name for each permit of a session, which stays the same for as long as the session keeps it. {@link
     * RecordedPermits} compares these names to find permits that were deleted from outside.
     */
    Set<String> permitNames(String session);

    /** The sessions of a member that are in use here, besides its first. */
    Set<String> sessions(String session);

    /**
     * Operations that only read, and of which one fails if a permit of the session is gone. {@link
     * RecordedPermitsCheck} sends them; they are cheaper than a read of the whole tree.
     */
    List<TxnOperation> proof(String session);

    /**
     * Operations that only read, and of which one fails if the key has changed in a way that matters to a member that waits for
     * a permit while all are in use: a permit, the queue, or the operator's limit.
     */
    List<TxnOperation> unchanged();

    /** Operations that delete the permits of a session. */
    List<TxnOperation> deletion(String session);

    /**
     * Whether a session neither holds nor waits, nor has anything else here. Then the member's use of the key needs
     * no memory, and its inbox has no notice for it.
     */
    boolean isWithout(String session);

    /**
     * Whether there are entries that belong to no permit and no waiting member, which any plan deletes: a guard that is
     * left because the last members returned their permits side by side, or entries of this session that did not fit into
     * the transaction of its return.
     */
    boolean hasOrphans(String session);

    /** Whether the guard of the queue exists, so that no member can wait unseen. */
    boolean isGuarded();

    /**
     * Of those that a session has, the lowest place among all permits; at one index no two sessions have the same. It
     * makes the version of a grant unique among the members of a key, see {@link GrantVersion}.
     */
    OptionalInt lowestPlace(String session);

    /**
     * The id of the member that has entries by this session, other than in the queue; empty if there are none. The
     * queue has the id of a waiting member; {@link #member} looks there first.
     */
    Optional<String> holder(String session);

    /**
     * The operations that make of this tree what a step says. Throws a permanent {@link PermitStoreException} if the
     * layout forbids the change.
     */
    PlannedTransaction plan(Step step, ChangeRequest request);

    default KeyNames names() {
        return entries().names();
    }

    /** The operator's limit, if set. */
    default OverrideLimit override() {
        return entries().override();
    }

    /** The members in the queue, by their sessions. */
    default Map<String, QueuedMember> waiting() {
        return entries().waiting();
    }

    /** The highest index of a change that can still be seen. */
    default long index() {
        return entries().index();
    }

    default int permits(String session) {
        return permitNames(session).size();
    }

    /** Whether another member waits. */
    default boolean othersWait(String session) {
        return waiting().size() > (waiting().containsKey(session) ? 1 : 0);
    }

    /**
     * The id of the member behind a session. The session itself for a session of another client, about which nothing
     * else is recorded.
     */
    default String member(String session) {
        QueuedMember queued = waiting().get(session);
        return queued == null ? holder(session).orElse(session) : queued.member();
    }

    /** The sessions of a process that hold permits here; {@link #member} names the process. */
    default List<String> holdingSessions(String process) {
        return held().keySet().stream()
                .filter(session -> member(session).equals(process) && permits(session) > 0)
                .toList();
    }

    /**
     * Operations that delete what a session holds and its place in the queue, unless that has changed since. The place in
     * the queue comes first and the permits last: if not all fit into one transaction, those that are left out are
     * permits, and the session is not served again with those that were taken.
     */
    default List<TxnOperation> eviction(String session) {
        List<TxnOperation> ops = new ArrayList<>();
        QueuedMember queued = waiting().get(session);
        if (queued != null) {
            ops.add(TxnOperation.deleteCas(names().waiting(session), queued.index()));
        }
        ops.addAll(deletion(session));
        return ops;
    }

    /**
     * Whether a session waits and no permit is free under its limit, so that it can get one only after a change that
     * {@link #unchanged} shows. While permits are free, as for a head of the queue that wants more, the end of any waiting
     * member matters.
     */
    default boolean waitsForAReturn(String session) {
        QueuedMember queued = waiting().get(session);
        return queued != null && used() >= override().orElse(queued.limit());
    }

    /** The record of a session; empty if it neither holds nor waits. */
    default Optional<PermitRecord> record(String session) {
        QueuedMember queued = waiting().get(session);
        return queued == null
                ? Optional.ofNullable(held().get(session))
                        .map(h -> QueuedMember.holder(session, h.permits(), h.limit()))
                : Optional.of(queued.record(permits(session)));
    }

    /**
     * What the step computes on. Sessions of other clients are members with one permit each. Versions of records are not used:
     * Consul orders changes by its own index.
     */
    default KeyTable table() {
        Map<String, Held> held = held();
        List<PermitRecord> records = new ArrayList<>();
        waiting()
                .forEach((session, queued) -> records.add(
                        queued.record(held.getOrDefault(session, Held.NOTHING).permits())));
        held.forEach((session, h) -> {
            if (!waiting().containsKey(session)) {
                records.add(QueuedMember.holder(session, h.permits(), h.limit()));
            }
        });
        return KeyTable.ofSessions(records, override(), index());
    }
}
