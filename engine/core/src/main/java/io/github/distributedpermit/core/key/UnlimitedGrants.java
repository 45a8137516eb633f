package io.github.distributedpermit.core.key;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Grants the permits of names without a limit, and keeps those in use, so that a shutdown waits for them as for others. No store
 * records them: they are never lost, and their tokens have the version 0, as those of {@link OutageCalls} do. Thread-safe.
 */
public final class UnlimitedGrants {

    private final KeyQueueHost host;
    private final Set<Grant> grants = ConcurrentHashMap.newKeySet();
    private final AtomicLong count = new AtomicLong();

    public UnlimitedGrants(KeyQueueHost host) {
        this.host = host;
    }

    /** A permit of this key; {@code null} if no calls are admitted any more. */
    @Nullable
    public Grant grant(PermitName permit, String key, int weight, long now) {
        if (isClosed()) {
            return null;
        }
        Owner owner = new Owner(key);
        Grant grant = new Grant(owner, permit, weight, Grant.STORELESS, nextCount(), now);
        boolean granted = false;
        try {
            grants.add(grant); // before the second look at the admission: a shutdown sees one of the two
            if (!isClosed()) {
                grant.counted = true;
                grant.gauge();
                granted = true;
                return grant;
            }
        } finally {
            if (!granted) {
                synchronized (owner) {
                    grant.ended = true;
                }
            }
        }
        // Not on this thread, which may have the lock of a queue: the look at all queues takes the lock of each.
        host.scheduler().schedule(this::ended, 0);
        return null;
    }

    /** The number of the next permit that no store has recorded, for its token. */
    long nextCount() {
        return count.incrementAndGet();
    }

    private boolean isClosed() {
        return host.admission() == Admission.NONE;
    }

    /** Whether calls hold such permits. */
    public boolean isInUse() {
        return grants.stream().anyMatch(this::isInUse);
    }

    /** For gauges: all calls that hold such permits. */
    public void survey(KeyQueueVisitor visitor) {
        grants.stream()
                .filter(this::isInUse)
                .forEach(grant -> visitor.holds(grant.permit, grant.key(), grant.grantedAt));
    }

    /** Whether the call has not ended. If it has, this does what an error may have kept its end from doing. */
    private boolean isInUse(Grant grant) {
        synchronized (grant.owner()) {
            if (!grant.ended) {
                return true;
            }
            grant.showEnd();
            grant.ungauge();
        }
        grants.remove(grant);
        return false;
    }

    private void ended() {
        if (host.admission() != Admission.ALL && !isInUse()) {
            host.progress();
        }
    }

    private final class Owner implements Grant.Owner {

        private final String key;

        Owner(String key) {
            this.key = key;
        }

        @Override
        public String key() {
            return key;
        }

        @Override
        public boolean isValid(Grant grant) {
            return true;
        }

        @Override
        public boolean release(Grant grant) {
            boolean first = false;
            try {
                synchronized (this) {
                    first = !grant.ended;
                    grant.ended = true;
                    if (first) {
                        grant.showEnd();
                        grant.ungauge();
                    }
                }
                if (first) {
                    grants.remove(grant);
                    host.released(grant);
                }
            } finally {
                if (first) {
                    ended();
                }
            }
            return first;
        }

        @Override
        public void notice(Runnable task) {
            host.notice(task);
        }
    }
}
