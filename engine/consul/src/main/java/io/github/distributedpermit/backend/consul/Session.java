package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A session of this member, and its fence: a key that each transaction checks and that is rewritten whenever the
 * outcome of one is unknown. A transaction that Consul has not executed by then fails, however late it arrives.
 * Confined to the event loop.
 */
final class Session {

    /** Below the inbox, so that one blocking query notices its deletion. The name is part of the stored format. */
    private static final String FENCE = ".member";

    /** As Consul has given it. */
    private final String id;

    /** With a slash at the end. */
    private final String inboxes;
    /** Further sessions of the same member, which hold permits where one session can hold only one. */
    private final Map<String, Additional> additional = new LinkedHashMap<>();

    /**
     * @param index at which its key in the inbox was written
     * @param lastUse when a key last used it, on the loop's clock
     */
    private record Additional(long index, long lastUse) {}

    private final SessionLiveness liveness;

    /** The index of the last write of the fence that was confirmed. 0 before the first write; then it only grows. */
    private long fence;
    /** The session was lost or ended, and nothing that still arrives for it counts. */
    private boolean over;

    /** @param sent when it was asked for */
    Session(String id, String prefix, long sent) {
        this.id = id;
        this.liveness = new SessionLiveness(id, sent);
        this.inboxes = KeyNames.inboxes(prefix, id);
    }

    String id() {
        return id;
    }

    /** When this session and its additional were last known to be alive. */
    SessionLiveness liveness() {
        return liveness;
    }

    /** What all of its inbox keys begin with. */
    String inboxes() {
        return inboxes;
    }

    String fenceKey() {
        return inboxes + FENCE;
    }

    /** The fence of any session. */
    static String fenceKey(String prefix, String session) {
        return KeyNames.inboxes(prefix, session) + FENCE;
    }

    /**
     * The readable name in a fence that was read by a {@code get-tree}; empty if there is none. Another client may
     * have written anything there, and a name is not worth an error. For the inspection of a key, whose entries have
     * no readable names.
     */
    static Optional<String> memberName(String fence, TxnOutcome outcome) {
        try {
            return outcome instanceof Done done
                    ? done.tree().stream()
                            .filter(entry -> entry.key().equals(fence))
                            .map(entry -> Json.object(entry.value()).text("name"))
                            .findFirst()
                    : Optional.empty();
        } catch (MalformedJsonException e) {
            return Optional.empty();
        }
    }

    /** The key by whose disappearance the loss of an additional session is noticed. */
    String additionalKey(String other) {
        return inboxes + ".spare-" + other;
    }

    /**
     * @param index at which its key was written; an older reply of the inbox cannot contain that key
     * @param now counts as the first use, so that the session is not ended before the order that has created it uses
     *     it
     */
    void addAdditional(String other, long index, long now) {
        additional.put(other, new Additional(index, now));
    }

    /** These sessions are in use; those that are no additional do not matter. */
    void use(Set<String> sessions, long now) {
        sessions.forEach(id -> additional.computeIfPresent(id, (other, before) -> new Additional(before.index(), now)));
    }

    /** The additional that no key has used for so long. */
    List<String> unusedFor(long nanos, long now) {
        return additional.entrySet().stream()
                .filter(other -> now - other.getValue().lastUse() >= nanos)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Not counted on any more, before it is ended. Its end, which follows, must not count as a loss of the member. */
    void removeAdditional(String other) {
        additional.remove(other);
        liveness.gone(other);
    }

    /** This session, then the additional. In this order, since the first one names the member. */
    List<String> all() {
        List<String> all = new ArrayList<>(additional.size() + 1);
        all.add(id);
        all.addAll(additional.keySet());
        return all;
    }

    /**
     * Whether the keys of the inbox, as a reply at this index has them, include the fence and the keys of all additional
     * sessions. The key of a session that was noted after that index cannot be among them.
     */
    boolean isWhole(Set<String> keys, long index) {
        return keys.contains(fenceKey())
                && additional.entrySet().stream()
                        .allMatch(other ->
                                other.getValue().index() > index || keys.contains(additionalKey(other.getKey())));
    }

    /** What all keys begin with by which the ends of the member's sessions are noticed. */
    String proofs() {
        return inboxes + '.';
    }

    /**
     * Whether a consistent read of the fence and of the {@link #proofs} has found that one of the member's sessions has ended.
     *
     * @param asked the additional sessions there were when the read was sent; one that was noted later may be missing
     */
    boolean isMissingIn(@Nullable TxnOutcome outcome, Set<String> asked) {
        if (outcome instanceof Done done) {
            Set<String> keys = done.tree().stream().map(KeyValue::key).collect(Collectors.toSet());
            return !id.equals(done.written().get(0).session())
                    || asked.stream()
                            // one that was removed meanwhile is ended by the member itself
                            .filter(additional::containsKey)
                            .anyMatch(other -> !keys.contains(additionalKey(other)));
        }
        return outcome instanceof Refused refused
                && refused.operation() == 0
                && refused.names(fenceKey())
                && refused.isMissingKey();
    }

    /** The additional sessions as they are now. */
    Set<String> additional() {
        return Set.copyOf(additional.keySet());
    }

    /** The index that each transaction of this session has to check. */
    long fence() {
        return fence;
    }

    /**
     * An answer that arrives out of order must not lower it: the transactions of the member would fail until the next
     * write.
     */
    void fence(long index) {
        fence = Math.max(fence, index);
    }

    /** Each answer is checked for it before it is used. */
    boolean isOver() {
        return over;
    }

    /** Final. Requests under way see it when their answers arrive. */
    void end() {
        over = true;
    }

    /** What ends that was asked for in a session which is over. */
    static PermitStoreException lost() {
        return PermitStoreException.passing("The session with Consul was lost", null);
    }
}
