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

/** Finds the master among nodes that the application lists: all are asked at once for their role. Thread-safe. */
final class StaticNodes implements MasterLocator {

    private final OwnClient client;
    private final List<RedisURI> nodes;

    StaticNodes(OwnClient client, List<RedisURI> nodes) {
        this.client = client;
        this.nodes = nodes;
    }

    /** The first of the list that says so, if several do. */
    @Override
    public RedisURI master() throws InterruptedException, ExecutionException, TimeoutException {
        List<CompletableFuture<Boolean>> roles = new ArrayList<>();
        nodes.forEach(node -> roles.add(client.connect(node).thenCompose(this::isMaster)));
        ExecutionException last = null;
        for (int i = 0; i < nodes.size(); i++) {
            try {
                // connecting has a time-out for each of its steps, and asking has one
                if (roles.get(i).get(4 * nodes.get(i).getTimeout().toMillis(), TimeUnit.MILLISECONDS)) {
                    return nodes.get(i);
                }
            } catch (ExecutionException e) {
                last = e;
            }
        }
        if (last != null) {
            throw last;
        }
        throw PermitStoreException.passing("None of the configured nodes of Redis is a master: " + nodes.size(), null);
    }

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
