package io.github.distributedpermit.backend.zookeeper;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * Deletes the member's nodes of keys that it no longer uses, with one transaction if possible. The layer sends no claim of these
 * keys meanwhile. The node of a key is a container: the server deletes it some time after the last node under it.
 * Used once; the answers arrive on the event thread of the client.
 *
 * <p>While a node is being deleted its {@link OwnNode} expects that, so that the deletion is not reported as an eviction.
 */
final class NodeRelease {

    private final ConcurrentMap<String, OwnNode> ownNodes;
    private final Nodes nodes;
    private final ZooKeeper zk;
    /** Keys of which nothing is left to delete. */
    private final Set<String> released = ConcurrentHashMap.newKeySet();

    NodeRelease(ConcurrentMap<String, OwnNode> ownNodes, Nodes nodes, ZooKeeper zk) {
        this.ownNodes = ownNodes;
        this.nodes = nodes;
        this.zk = zk;
    }

    /**
     * Ends with those keys that can be forgotten; never fails. A key that is not returned stays in use by the layer,
     * and is released again after some time.
     */
    CompletableFuture<Set<String>> of(Set<String> keys) {
        Map<String, String> paths = new HashMap<>();
        for (String key : keys) {
            OwnNode own = ownNodes.get(key);
            if (own != null && !own.orphaned().isEmpty()) {
                continue; // a node of an earlier session has to be deleted first, see OrphanedNodes; the key is kept
                // until then
            }
            String path = own == null ? null : own.expectDeletion();
            // The member has created no node of this key in this session.
            if (path == null) {
                forget(key);
            } else {
                paths.put(key, path);
            }
        }
        if (paths.isEmpty()) {
            return CompletableFuture.completedFuture(Set.copyOf(released));
        }
        return nodes.commit(
                        zk,
                        // One transaction instead of one for each key: many keys become idle at the same time as a
                        // rule.
                        paths.values().stream().map(path -> Op.delete(path, -1)).toList())
                .handle((done, failure) -> {
                    if (failure != null) {
                        return oneByOne(paths);
                    }
                    paths.forEach(this::deleted);
                    return CompletableFuture.<Void>completedFuture(null);
                })
                .thenCompose(all -> all)
                .thenApply(all -> new HashSet<>(released));
    }

    /** One of them could not be deleted; the others can. A node that is missing already counts as deleted. */
    private CompletableFuture<Void> oneByOne(Map<String, String> paths) {
        return CompletableFuture.allOf(paths.entrySet().stream()
                .map(entry -> nodes.deleteIfThere(zk, entry.getValue()).handle((done, failure) -> {
                    OwnNode own = ownNodes.get(entry.getKey());
                    if (failure == null) {
                        deleted(entry.getKey(), entry.getValue());
                    } else if (own != null) {
                        own.stay();
                    }
                    return null;
                }))
                .toArray(CompletableFuture<?>[]::new));
    }

    /**
     * The watch would stay on the server, and in the client, for a node that never comes back under this name. The
     * node of the key itself is not deleted here, because other members may have nodes below it.
     */
    private void deleted(String key, String path) {
        OwnNode own = ownNodes.get(key);
        if (own != null) {
            own.unwatch(zk, path);
        }
        forget(key);
    }

    /** If the key is used again, a new {@link OwnNode} creates a node with another name. */
    private void forget(String key) {
        ownNodes.remove(key);
        released.add(key);
    }
}
