package io.github.distributedpermit.backend.consul;

import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Ends the additional sessions of a member that no key has used for a TTL. Looks three times per TTL; as long as it is not
 * known of every key which sessions it uses, none is ended. Confined to the event loop.
 */
final class UnusedSessions {

    private static final int PER_TTL = 3;
    private static final int PATIENCE = 20;
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(50);

    private final Membership membership;
    private final AdditionalSessions additional;
    private final EventLoop loop;
    private final KeyUses uses;
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

    /** {@code false} if a key is busy, so that its sessions are not known, and the look has to be repeated soon. */
    private boolean isDone(int patience) {
        Session session = membership.current();
        if (session == null || !session.hasAdditional()) {
            return true;
        }
        Optional<Set<String>> used = used(session, patience == PATIENCE);
        used.ifPresent(sessions -> additional.shrink(session, sessions, ttl));
        return used.isPresent();
    }

    /** The sessions that any key uses; empty if that is not known of each key. */
    private Optional<Set<String>> used(Session session, boolean isFirst) {
        Set<String> all = new HashSet<>();
        boolean known = true;
        for (KeyUse use : uses.all()) {
            KeyTree tree = use.latest();
            if (tree != null) {
                all.addAll(tree.sessions(session.id()));
            } else if (isFirst && !use.isBusy()) {
                use.check();
            }
            known &= tree != null;
        }
        return known ? Optional.of(all) : Optional.empty();
    }
}
