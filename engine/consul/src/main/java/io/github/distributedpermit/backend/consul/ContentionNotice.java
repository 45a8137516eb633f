package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Notifies the holders of a key that a member waits now where none did before. Their cached snapshots are out of date from
 * then on, and a return that rests on one would fail: a write of the Raft log, and a round trip, before the waiter is
 * served. A holder that has received the notice reads the key first.
 *
 * <p>The first member in a queue writes the notices with the transaction by which it joins. Each member has one entry
 * for all keys, which is locked by its session and so needs no clean-up. A notice that another one overwrites is
 * lost, which costs the failed write that it would have saved, and nothing else. Immutable. {@link QueueChanges} and
 * {@link Eviction} add the operations, and {@link KeyUses} reads the notices that arrive.
 *
 * @param key the encoded key
 * @param evicted whether the notice is that of an operator, who has taken the member's permits
 */
record ContentionNotice(String key, boolean evicted) {

    /** How many holders are notified: each notice returns a blocking query. */
    private static final int MOST = 10;

    /** The field that distinguishes the notice of an operator; versions without it read any notice as contention. */
    private static final String EVICTED = "evicted";

    /**
     * The notices of a member that joins the queue; none if other members wait already.
     *
     * @param room how many operations the transaction can take
     */
    static List<TxnOperation> toHolders(KeyTree tree, ChangeRequest request, int room) {
        // The holders were notified when the first of the others joined.
        if (tree.othersWait(request.session())) {
            return List.of();
        }
        String value = Format.text(Map.of("key", tree.names().encoded(), "nonce", request.nonce()));
        return tree.holdingMembers().stream()
                .filter(session -> !session.equals(request.session()))
                // A notice that does not fit is left out, because nothing but time depends on it.
                .limit(Math.max(0, Math.min(room, MOST)))
                .map(session -> TxnOperation.lock(tree.names().contention(session), session, value))
                .toList();
    }

    /**
     * The notice to a member that an operator has taken its permits. It reads the key at once, and finds what is missing; members
     * of older versions read the key before their next change of it. If another notice overwrites this one, the member finds
     * the loss with its {@link RecordedPermitsCheck}.
     */
    static TxnOperation ofEviction(KeyNames names, String session, String nonce) {
        String value = Format.text(Map.of("key", names.encoded(), EVICTED, true, "nonce", nonce));
        return TxnOperation.lock(names.contention(session), session, value);
    }

    /** Empty if the entry is damaged, or only newer versions may use it. */
    static Optional<ContentionNotice> of(KeyValue entry) {
        try {
            JsonObject json = Json.object(entry.value());
            return Format.of(json).isReadable()
                    ? Optional.of(new ContentionNotice(json.text("key"), json.has(EVICTED) && json.flag(EVICTED)))
                    : Optional.empty();
        } catch (MalformedJsonException e) {
            return Optional.empty();
        }
    }
}
