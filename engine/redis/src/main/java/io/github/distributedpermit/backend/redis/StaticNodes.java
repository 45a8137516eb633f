package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.PermitStoreException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Finds the master among nodes that the application lists: asks all of them at once for their role. A node that does not
 * answer does not keep the others from being used. Thread-safe.
 *
 * <p>It remembers nothing: the roles are asked for at each attempt to connect.
 */
final class StaticNodes implements MasterLocator {

    /** The steps of an attempt that have a time-out each: TCP, TLS, the handshake of Redis, the question. */
    private static final int STEPS = 4;

    private final OwnClient client;
    /** Not empty. */
    private final List<RedisURI> nodes;

    StaticNodes(OwnClient client, List<RedisURI> nodes) {
        this.client = client;
        this.nodes = nodes;
    }

    /**
     * The first master of the list, if several nodes are masters: all members choose the same. Blocks until a master
     * has answered, for the time-outs of one attempt at most, because all nodes are asked at the same time.
     */
    @Override
    public RedisURI findMaster() throws InterruptedException {
        List<CompletableFuture<Boolean>> roles = new ArrayList<>();
        nodes.forEach(node -> roles.add(client.connect(node).thenCompose(this::isMaster)));
        // One deadline for all nodes, since they are asked at the same time.
        long deadline = System.nanoTime() + STEPS * nodes.get(0).getTimeout().toNanos();
        PermitStoreException reason = PermitStoreException.passing(
                "None of the " + nodes.size() + " configured nodes of Redis is a master", null);
        for (int i = 0; i < nodes.size(); i++) {
            try {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (Connector.within(roles.get(i), Math.max(left, 0))) {
                    return nodes.get(i);
                }
            } catch (ExecutionException | TimeoutException e) {
                reason = Failures.of(e, null); // says more than that no master was found
            }
        }
        throw reason;
    }

    /**
     * Asks a server for its role over a connection of its own, which is closed afterwards. The answer of {@code ROLE}
     * begins with the role. The question has a time-out of its own.
     */
    private CompletableFuture<Boolean> isMaster(StatefulRedisConnection<byte[], byte[]> connection) {
        return connection
                .async()
                .role()
                .toCompletableFuture()
                .orTimeout(2, TimeUnit.SECONDS)
                .thenApply(role -> role.get(0) instanceof byte[] name
                        && "master".equals(new String(name, StandardCharsets.US_ASCII)))
                .whenComplete((role, failure) -> connection.closeAsync());
    }
}
