package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.key.KeyQueue;
import io.github.distributedpermit.core.key.KeyQueueVisitor;
import io.github.distributedpermit.core.key.NameCounts;
import io.github.distributedpermit.core.key.PermitName;
import io.github.distributedpermit.spi.PermitGauges.LongestCall;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Looks at all queues of this process, and at the calls without one, for gauges. One look serves all gauges for a second, so that reading them costs little
 * with many names and many keys. Thread-safe.
 */
public final class KeySurvey {

    /** A claim that is unanswered after so many command time-outs is stuck: by then it has been repeated. */
    private static final int PATIENCE = 3;

    private static final long VALID = TimeUnit.SECONDS.toNanos(1);

    private final KeyRegistry registry;
    private Result last = new Result();
    private long lastAt;
    private boolean valid;

    /** Nothing is looked at before a gauge is read. */
    KeySurvey(KeyRegistry registry) {
        this.registry = registry;
    }

    /** The call of this name that has been waiting for the longest. */
    public Optional<LongestCall> longestWait(NameCounts counts) {
        return call(current().waits.get(counts));
    }

    /** The call of this name that has held its permits for the longest. */
    public Optional<LongestCall> longestHold(NameCounts counts) {
        return call(current().holds.get(counts));
    }

    /** For how long each call of this name that holds permits has held them at least. */
    public Optional<Duration> shortestHold(NameCounts counts) {
        return Optional.ofNullable(current().grants.get(counts)).map(this::since);
    }

    /** How many calls of this name run although their permits were lost. */
    public int runningLost(NameCounts counts) {
        return current().lost.getOrDefault(counts, 0);
    }

    /** Whether an operator has paused all calls of this name. */
    public boolean isPaused(NameCounts counts) {
        return registry.operations().isPaused(counts.name());
    }

    /** How many groups have calls of this name that wait. */
    public int fairGroups(NameCounts counts) {
        return current().groups.getOrDefault(counts, 0);
    }

    /** How many claims have no answer yet. */
    int unanswered() {
        return current().unanswered;
    }

    /** How many keys are in grace, as of the last answer of each. */
    int inGrace() {
        return current().inGrace;
    }

    /**
     * The claims and timers that have been due for so long that calls cannot rely on them, whatever the cause: a store that does not
     * answer, a client that is stuck, a scheduler without a thread. Names no key.
     */
    Optional<String> overdue(Duration commandTimeout) {
        long now = registry.now();
        long bound = now - PATIENCE * commandTimeout.toNanos();
        long oldest = bound;
        int overdue = 0;
        for (KeyQueue queue : registry) {
            long since = queue.dueSince();
            if (since < bound) {
                overdue++;
                oldest = Math.min(oldest, since);
            }
        }
        return overdue == 0
                ? Optional.empty()
                : Optional.of("no answer to claims of %d key(s) for up to %d ms"
                        .formatted(overdue, (now - oldest) / 1_000_000));
    }

    private Optional<LongestCall> call(@Nullable Oldest oldest) {
        return oldest == null
                ? Optional.empty()
                : Optional.of(new LongestCall(oldest.key, since(oldest.since), oldest.inner));
    }

    private Duration since(long time) {
        return Duration.ofNanos(Math.max(0, registry.now() - time));
    }

    private synchronized Result current() {
        long now = registry.now();
        if (!valid || now - lastAt >= VALID) {
            Result next = new Result();
            registry.each(queue -> queue.survey(next));
            registry.unlimitedGrants().survey(next);
            registry.lostCalls().survey(next);
            last = next;
            lastAt = now;
            valid = true;
        }
        return last;
    }

    private record Oldest(String key, long since, @Nullable String inner) {}

    private static final class Result implements KeyQueueVisitor {

        final Map<NameCounts, Oldest> waits = new HashMap<>();
        final Map<NameCounts, Oldest> holds = new HashMap<>();
        /** When the last of the permits that are held was granted. */
        final Map<NameCounts, Long> grants = new HashMap<>();

        final Map<NameCounts, Integer> lost = new HashMap<>();
        final Map<NameCounts, Integer> groups = new HashMap<>();
        int unanswered;
        int inGrace;

        @Override
        public void waits(PermitName permit, String key, long since, @Nullable String inner) {
            add(waits, permit, new Oldest(key, since, inner));
        }

        @Override
        public void holds(PermitName permit, String key, long since) {
            add(holds, permit, new Oldest(key, since, null));
            merge(grants, permit, since, Math::max);
        }

        @Override
        public void lost(PermitName permit) {
            count(lost, permit);
        }

        @Override
        public void group(PermitName permit) {
            count(groups, permit);
        }

        private static void count(Map<NameCounts, Integer> all, PermitName permit) {
            merge(all, permit, 1, Integer::sum);
        }

        @Override
        public void unanswered(int claims) {
            unanswered += claims;
        }

        @Override
        public void grace() {
            inGrace++;
        }

        private static void add(Map<NameCounts, Oldest> all, PermitName permit, Oldest call) {
            merge(all, permit, call, Result::older);
        }

        private static <T> void merge(Map<NameCounts, T> all, PermitName permit, T value, BinaryOperator<T> both) {
            all.merge(permit.counts, value, both);
            if (permit.ownCounts != permit.counts) {
                all.merge(permit.ownCounts, value, both);
            }
        }

        private static Oldest older(Oldest one, Oldest other) {
            return one.since <= other.since ? one : other;
        }
    }
}
