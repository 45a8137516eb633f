package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.WARNING;

import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Warns if Redis may throw permits away: whoever is in a key that was evicted holds on while others are let in. */
final class EvictionPolicy {

    private static final System.Logger LOG = System.getLogger(EvictionPolicy.class.getName());
    private static final Pattern POLICY = Pattern.compile("(?m)^maxmemory_policy:(\\S+)");
    private static final String SAFE = "noeviction";

    private EvictionPolicy() {}

    /** Asks the server, if the user of the connection may. */
    static void check(Attachment to) throws InterruptedException {
        try {
            String memory = to.commands().info("memory").get(1, TimeUnit.SECONDS);
            policy(memory).filter(policy -> !policy.equals(SAFE)).ifPresent(EvictionPolicy::warn);
        } catch (ExecutionException | TimeoutException | RuntimeException e) {
            LOG.log(
                    DEBUG,
                    "The eviction policy of Redis can't be read: {0}",
                    e.getClass().getSimpleName());
        }
    }

    private static Optional<String> policy(String memory) {
        Matcher line = POLICY.matcher(memory);
        return line.find() ? Optional.of(line.group(1)) : Optional.empty();
    }

    private static void warn(String policy) {
        LOG.log(
                WARNING,
                "LIMITS ARE NOT SAFE: the Redis server''s maxmemory-policy is {0}. When it runs out of memory it will drop "
                        + "permits that are in use, and more calls than the limit run. Set maxmemory-policy to noeviction",
                policy);
    }
}
