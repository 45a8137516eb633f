package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.WARNING;

import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisLoadingException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Examines by one {@code INFO} whether a server may evict permits in use, and whether it shows its replication id, by which a
 * loss of state is noticed. Some managed services do not, or the user of the connection may not ask. Then permits work without a
 * grace. Stateless.
 */
final class ServerCheck {

    private static final System.Logger LOG = System.getLogger(ServerCheck.class.getName());
    private static final Pattern POLICY = Pattern.compile("(?m)^maxmemory_policy:(\\S+)");

    private ServerCheck() {}

    /**
     * Waits for the answer for a second at most.
     *
     * @param graced whether the member asks for a grace
     * @return {@code false} if another check makes sense: the server has not answered, and the connection stays as it is; or it has
     *     to show its replication id and does not, which an operator may change while the connection lasts
     */
    static boolean check(SharedConnection to, boolean graced) throws InterruptedException {
        String refusal = "INFO is refused; the right +info is missing, or the service does not offer it";
        try {
            String info = to.commands().info().get(1, TimeUnit.SECONDS);
            warnOfEviction(to, POLICY.matcher(info));
            if (info.contains("master_replid:")) {
                to.showsEpochs = true;
                return true;
            }
            refusal = "INFO shows no master_replid";
        } catch (ExecutionException | TimeoutException | RuntimeException e) {
            if (!isRefused(e.getCause())) {
                LOG.log(DEBUG, "Redis has not answered INFO; it is asked again", e);
                return false;
            }
        }
        if (graced && to.showsEpochs) {
            to.showsEpochs = false;
            LOG.log(
                    WARNING,
                    "Redis does not show when it loses state ({0}), so permits work without distributed-permit.redis.grace: "
                            + "after a fail-over or a restart without data, more calls than the limit may run for up to one "
                            + "lease",
                    refusal);
        }
        return !graced;
    }

    /** In capital letters at the beginning, because limits may be exceeded although nothing fails. Services may hide the policy. */
    private static void warnOfEviction(SharedConnection to, Matcher policy) {
        if (to.warning == null && policy.find() && !policy.group(1).equals("noeviction")) {
            to.warning = "the Redis server's maxmemory-policy is " + policy.group(1)
                    + ". When the server runs out of memory, it evicts permits that are in use, and more calls than the limit run."
                    + " Set maxmemory-policy to noeviction; if that server is a cache, give permits another one, by a connection"
                    + " factory with @PermitRedisConnectionFactory";
            LOG.log(WARNING, "LIMITS ARE NOT SAFE: {0}", to.warning);
        }
    }

    /** A server that is busy or still loads will answer the same question later. */
    private static boolean isRefused(@Nullable Throwable failure) {
        return failure instanceof RedisCommandExecutionException
                && !(failure instanceof RedisBusyException)
                && !(failure instanceof RedisLoadingException);
    }
}
