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

/** Deletes the member's nodes of keys that it no longer uses, with one transaction if possible. Used once. */
final class NodeRelease {

    private final ConcurrentMap<String, OwnNode> ownNodes;
    private final Nodes nodes;
    private final ZooKeeper zk;
    private final Set<String> released = ConcurrentHashMap.newKeySet();

    NodeRelease(ConcurrentMap<String, OwnNode> ownNodes, Nodes nodes, ZooKeeper zk) {
        this.ownNodes = ownNodes;
        this.nodes = nodes;
        this.zk = zk;
    }

    /** Ends with those keys that can be forgotten; never fails. */
    CompletableFuture<Set<String>> of(Set<String> keys) {
        Map<String, String> paths = new HashMap<>();
        for (String key : keys) {
            OwnNode own = ownNodes.get(key);
            if (own != null && !own.orphaned().isEmpty()) {
                continue;
            }
            String path = own == null ? null : own.leave();
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

    /** One of them could not be deleted; the others can. */
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

    private void deleted(String key, String path) {
        OwnNode own = ownNodes.get(key);
        if (own != null) {
            own.unwatch(zk, path);
        }
        forget(key);
    }

    private void forget(String key) {
        ownNodes.remove(key);
        released.add(key);
    }
}
