package io.github.distributedpermit.backend.consul;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Ends the additional sessions of a member that no key has used for a TTL. Looks three times per TTL; as long as it is not
 * known of every key which sessions it uses, none is ended. Confined to the loop.
 */
final class UnusedSessions {

    private static final int PER_TTL = 3;
    private static final int PATIENCE = 20;
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(50);

    private final Membership membership;
    private final Spares spares;
    private final Loop loop;
    private final Supplier<Collection<Lane>> lanes;
    private final long ttl;

    UnusedSessions(Membership membership, Spares spares, Loop loop, Duration ttl, Supplier<Collection<Lane>> lanes) {
        this.membership = membership;
        this.spares = spares;
        this.loop = loop;
        this.ttl = TimeUnit.NANOSECONDS.convert(ttl);
        this.lanes = lanes;
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

    private boolean isDone(int patience) {
        Session session = membership.current();
        if (session == null || !session.hasSpares()) {
            return true;
        }
        Optional<Set<String>> used = used(session, patience == PATIENCE);
        used.ifPresent(sessions -> spares.shrink(session, sessions, ttl));
        return used.isPresent();
    }

    private Optional<Set<String>> used(Session session, boolean isFirst) {
        Set<String> all = new HashSet<>();
        boolean known = true;
        for (Lane lane : List.copyOf(lanes.get())) {
            Optional<Set<String>> some = lane.sessions(session);
            some.ifPresent(all::addAll);
            if (some.isEmpty() && isFirst && lane.isAtRest()) {
                lane.check();
            }
            known &= some.isPresent();
        }
        return known ? Optional.of(all) : Optional.empty();
    }
}
