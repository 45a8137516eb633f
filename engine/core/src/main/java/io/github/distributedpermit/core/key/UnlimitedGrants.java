package io.github.distributedpermit.core.key;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Grants the permits of names without a limit, and counts those in use, so that a shutdown waits for them as for others. No store
 * records them: they are never lost, and their tokens have the version 0, as those of {@link OutageCalls} do. Thread-safe.
 */
public final class UnlimitedGrants {

    private final KeyQueueHost host;
    private final Set<Grant> grants = ConcurrentHashMap.newKeySet();
    private final AtomicInteger inUse = new AtomicInteger();
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
        Grant grant = new Grant(new Owner(key), permit, weight, Grant.STORELESS, nextCount(), now);
        inUse.incrementAndGet(); // before the second look at the admission: a shutdown sees one of the two
        if (isClosed()) {
            // Not on this thread, which may have the lock of a queue: the look at all queues takes the lock of each.
            host.scheduler().schedule(this::ended, 0);
            return null;
        }
        grants.add(grant);
        grant.counted = true;
        grant.gauge();
        return grant;
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
        return inUse.get() > 0;
    }

    /** For gauges: all calls that hold such permits. */
    public void survey(KeyQueueVisitor visitor) {
        grants.forEach(grant -> visitor.holds(grant.permit, grant.key(), grant.grantedAt));
    }

    private void ended() {
        if (inUse.decrementAndGet() == 0 && host.admission() != Admission.ALL) {
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
            synchronized (this) {
                if (grant.ended) {
                    return false;
                }
                grant.ended = true;
                grant.showEnd();
                grant.ungauge();
            }
            try {
                grants.remove(grant);
                host.released(grant);
            } finally {
                ended();
            }
            return true;
        }

        @Override
        public void notice(Runnable task) {
            host.notice(task);
        }
    }
}
