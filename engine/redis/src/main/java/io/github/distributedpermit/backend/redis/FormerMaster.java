package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Closes a server that the Sentinels have replaced while it may still take claims, because the network is partitioned or because
 * the server does not follow the new master yet; and opens it again if a later vote has made it the master. Stateless.
 *
 * <p>It needs the grace, since only then the epoch of the server is known. Without it, members that have not noticed the
 * fail-over could get permits there that others get from the new master as well.
 */
final class FormerMaster {

    private static final System.Logger LOG = System.getLogger(FormerMaster.class.getName());

    /**
     * How long an answer is waited for, besides the time for which claims may block the connection; the script may be
     * executed later all the same.
     */
    private static final long PATIENCE_MILLIS = 2_000;

    private FormerMaster() {}

    /**
     * Sends the request over the present connection. A server that is frozen executes it when it goes on; one that is down or
     * follows another master already needs none.
     *
     * @param lineage the name under which the server stores what it has continued
     * @param epoch under which it has granted permits
     * @param vote that has made another server the master
     * @return ends when the server has answered, or has not for a while; never with a failure that matters
     */
    static CompletableFuture<?> close(SharedConnection to, byte[] lineage, long epoch, long vote) {
        return execute(Script.CLOSE, to, lineage, epoch, vote).whenComplete((closed, failure) -> {
            if (closed != null && closed == 1) {
                LOG.log(
                        INFO,
                        "The former Redis master {0} was closed: it grants no more permits to instances that still use it",
                        address(to.server()));
            }
        });
    }

    /**
     * Lets the server take claims again. What it has recorded counts as incomplete, so that a grace begins. Does not
     * wait for the answer. The attempt is repeated as long as the server refuses claims.
     *
     * @param vote that has made it the master; it must be later than the one by which it was closed
     */
    static void open(SharedConnection to, byte[] lineage, long vote) {
        execute(Script.OPEN, to, lineage, vote).whenComplete((opened, failure) -> {
            if (opened != null && opened == 1) {
                LOG.log(
                        WARNING,
                        "The Redis server {0} was closed as a former master, and the Sentinels have made it the master again: it "
                                + "was opened. For one lease, only instances that already hold permits are granted them "
                                + "again; other calls wait",
                        address(to.server()));
            }
        });
    }

    /**
     * Ends when the server has answered, or has not for a while; failures only end it. Sends the source instead of
     * its digest, because the script is used once and the server may not have it.
     */
    private static CompletableFuture<Long> execute(
            Script script, SharedConnection to, byte[] lineage, long... numbers) {
        try {
            byte[][] arguments = LongStream.of(numbers)
                    .mapToObj(Long::toString)
                    .map(RedisKey::bytes)
                    .toArray(byte[][]::new);
            return to.commands()
                    .<Long>eval(script.source(), ScriptOutputType.INTEGER, new byte[][] {lineage}, arguments)
                    .toCompletableFuture()
                    .orTimeout(PATIENCE_MILLIS + to.blockedMillis(), TimeUnit.MILLISECONDS);
        } catch (RuntimeException e) {
            LOG.log(DEBUG, "A Redis server could not be closed or opened", e);
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Without user and password. For messages. */
    private static String address(@Nullable RedisURI server) {
        return server == null ? "" : server.getHost() + ":" + server.getPort();
    }
}
