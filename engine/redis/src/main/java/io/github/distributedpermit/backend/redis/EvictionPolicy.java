package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.WARNING;

import io.lettuce.core.RedisCommandExecutionException;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Warns if Redis may evict permits: calls that hold a permit of an evicted key go on, and other calls get the same permit.
 * Stateless.
 *
 * <p>{@link SubscriptionKeeper} calls it after a new subscription, on the thread of the {@link ConnectionManager}.
 */
final class EvictionPolicy {

    private static final System.Logger LOG = System.getLogger(EvictionPolicy.class.getName());
    /** A line of the answer to {@code INFO memory}. */
    private static final Pattern POLICY = Pattern.compile("(?m)^maxmemory_policy:(\\S+)");

    private static final String SAFE = "noeviction";

    private EvictionPolicy() {}

    /**
     * Reads the policy of the server, if the user of the connection has the right to. Waits for the answer, for a
     * second at most. A refusal ends the check, since it would be repeated at each attempt.
     *
     * @return whether the check is finished: {@code false} if the server did not answer, so that another check makes sense
     */
    static boolean checkPolicy(SharedConnection to) throws InterruptedException {
        try {
            String memory = to.commands().info("memory").get(1, TimeUnit.SECONDS);
            policy(memory).filter(policy -> !policy.equals(SAFE)).ifPresent(EvictionPolicy::logWarning);
            return true;
        } catch (ExecutionException | TimeoutException | RuntimeException e) {
            LOG.log(
                    DEBUG,
                    "The eviction policy of Redis can''t be read, so it is not checked: {0}",
                    e.getClass().getSimpleName());
            return e.getCause() instanceof RedisCommandExecutionException;
        }
    }

    /** Empty if the service hides the line. */
    private static Optional<String> policy(String memory) {
        Matcher found = POLICY.matcher(memory);
        return found.find() ? Optional.of(found.group(1)) : Optional.empty();
    }

    /**
     * In capital letters at the beginning, because limits may be exceeded although nothing fails.
     */
    private static void logWarning(String policy) {
        LOG.log(
                WARNING,
                "LIMITS ARE NOT SAFE: the Redis server''s maxmemory-policy is {0}. When the server runs out of memory, it "
                        + "evicts permits that are in use, and more calls than the limit run. Set maxmemory-policy to "
                        + "noeviction",
                policy);
    }
}
