package io.github.distributedpermit.backend.consul;

import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Ends the additional sessions of a member that no key has used for a TTL. Looks three times per TTL; as long as it is not
 * known of every key which sessions it uses, none is ended. Confined to the event loop.
 *
 * <p>{@link ConsulSnapshotStore} begins it in layout lock-file. It does not end a session itself, but passes the
 * sessions in use to {@link AdditionalSessions#shrink}. To end a session too late costs a renewal now and then; to
 * end one in use would lose a permit.
 */
final class UnusedSessions {

    private static final int PER_TTL = 3;
    /** Looks in a row while keys are busy, one second in all; then it waits for the next round. */
    private static final int PATIENCE = 20;
    /** In nanoseconds. */
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(50);

    private final Membership membership;
    private final AdditionalSessions additional;
    private final EventLoop loop;
    private final KeyUses uses;
    /** In nanoseconds. */
    private final long ttl;

    UnusedSessions(Membership membership, AdditionalSessions additional, EventLoop loop, Duration ttl, KeyUses uses) {
        this.membership = membership;
        this.additional = additional;
        this.loop = loop;
        this.ttl = TimeUnit.NANOSECONDS.convert(ttl);
        this.uses = uses;
    }

    /** Until the loop ends. */
    void begin() {
        loop.later(() -> look(PATIENCE), ttl / PER_TTL);
    }

    /** @param patience how many more looks may follow this one at once */
    private void look(int patience) {
        boolean again = false;
        try {
            again = !isDone(patience) && patience > 0;
        } finally {
            if (again) {
                loop.later(() -> look(patience - 1), SOON); // a claim is under way
            } else {
                begin();
            }
        }
    }

    /**
     * {@code false} if a key is busy, so that its sessions are not known, and the look has to be repeated soon. A key
     * that is in no use does not matter: it has no contender of this member.
     */
    private boolean isDone(int patience) {
        Session session = membership.current();
        if (session == null || !session.hasAdditional()) {
            return true;
        }
        Optional<Set<String>> used = used(session, patience == PATIENCE);
        used.ifPresent(sessions -> additional.shrink(session, sessions, ttl));
        return used.isPresent();
    }

    /**
     * The sessions that any key uses; empty if that is not known of each key.
     *
     * @param isFirst whether this is the first look of a round, which has keys read whose sessions are not known
     */
    private Optional<Set<String>> used(Session session, boolean isFirst) {
        Set<String> all = new HashSet<>();
        boolean known = true;
        for (KeyUse use : uses.all()) {
            KeyTree tree = use.latest();
            if (tree != null) {
                all.addAll(tree.sessions(session.id()));
            } else if (isFirst && !use.isBusy()) {
                // Its tree may be out of date although no request is under way. The read makes it known for the next
                // look.
                use.check();
            }
            known &= tree != null;
        }
        return known ? Optional.of(all) : Optional.empty();
    }
}
