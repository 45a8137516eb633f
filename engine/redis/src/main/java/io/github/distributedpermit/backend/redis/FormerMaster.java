package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.INFO;

import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a server that the Sentinels have replaced while it may still take claims, because the network is partitioned or because
 * the server does not follow the new master yet. Stateless.
 */
final class FormerMaster {

    private static final System.Logger LOG = System.getLogger(FormerMaster.class.getName());

    private static final long PATIENCE_MILLIS = 2_000;

    private FormerMaster() {}

    /**
     * Sends the request over the present connection. A server that is frozen executes it when it goes on; one that is down or
     * follows another master already needs none.
     *
     * @param lineage the name under which the server stores what it has continued
     * @param epoch under which it has granted permits
     * @return ends when the server has answered, or has not for a while; never with a failure that matters
     */
    static CompletableFuture<?> close(SharedConnection to, byte[] lineage, long epoch) {
        try {
            return to.commands()
                    .<Long>eval(
                            Script.CLOSE.source(),
                            ScriptOutputType.INTEGER,
                            new byte[][] {lineage},
                            Long.toString(epoch).getBytes(StandardCharsets.US_ASCII))
                    .toCompletableFuture()
                    .orTimeout(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
                    .whenComplete((closed, failure) -> {
                        if (closed != null && closed == 1) {
                            LOG.log(
                                    INFO,
                                    "The former Redis master {0} was closed: it grants no more permits to instances that still use it",
                                    address(to.server()));
                        }
                    });
        } catch (RuntimeException e) {
            LOG.log(DEBUG, "The former Redis master could not be closed", e);
            return CompletableFuture.completedFuture(null);
        }
    }

    /** Without user and password. */
    private static String address(@Nullable RedisURI server) {
        return server == null ? "" : server.getHost() + ":" + server.getPort();
    }
}
