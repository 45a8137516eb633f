package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.WARNING;

import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisLoadingException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Examines whether a server shows its replication id, by which a loss of state is noticed. Some managed services do not, or the
 * user of the connection may not ask. Then permits work without a grace. Stateless.
 *
 * <p>{@link SubscriptionKeeper} calls it for each new connection if the grace is on.
 */
final class ServerEpoch {

    private static final System.Logger LOG = System.getLogger(ServerEpoch.class.getName());

    private ServerEpoch() {}

    /** Waits for a second at most. A server that does not answer decides nothing: the connection stays as it is. */
    static void check(SharedConnection to) throws InterruptedException {
        String reason;
        try {
            String replication = to.commands().info("replication").get(1, TimeUnit.SECONDS);
            if (replication.contains("master_replid:")) {
                return;
            }
            reason = "INFO replication shows no master_replid";
        } catch (ExecutionException e) {
            if (!isRefused(e.getCause())) {
                return; // such as the client's own time-out: the scripts find out by themselves
            }
            reason = "INFO is refused; the right +info is missing, or the service does not offer it";
        } catch (TimeoutException | RuntimeException e) {
            return; // the scripts find out by themselves
        }
        to.markWithoutEpochs();
        LOG.log(
                WARNING,
                "Redis does not show when it loses state ({0}), so permits work without distributed-permit.redis.grace: after a "
                        + "fail-over or a restart without data, more calls than the limit may run for up to one lease",
                reason);
    }

    /** A server that is busy or still loads will answer the same question later. */
    private static boolean isRefused(@Nullable Throwable failure) {
        return failure instanceof RedisCommandExecutionException
                && !(failure instanceof RedisBusyException)
                && !(failure instanceof RedisLoadingException);
    }
}
