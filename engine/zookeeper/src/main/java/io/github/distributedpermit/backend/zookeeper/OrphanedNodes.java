package io.github.distributedpermit.backend.zookeeper;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * The nodes by which a member had joined a key in a session that it has given up. If the ensemble has kept the session,
 * they are still there, and no other member will delete them.
 *
 * <p>Nor may the last node of a member go while its record counts, for others would take it for expired, and no
 * member would have served the queue: either the record goes first, or the member has joined by another node. Thread-safe.
 *
 * <p>{@link OwnNode} adds to it when the session is given up. {@link ZooKeeperSnapshotStore#rested} and its {@code
 * close} have the nodes deleted.
 */
final class OrphanedNodes {

    /** In the order in which they were given up. */
    private final Set<String> paths = new LinkedHashSet<>();

    private final Nodes nodes;
    /** The handle through which the nodes were created; its session is the one that may still keep them. */
    private @Nullable ZooKeeper handle;

    OrphanedNodes(Nodes nodes) {
        this.nodes = nodes;
    }

    /**
     * Nodes are made through this handle from now on. It has one session, with which all nodes before it end.
     *
     * @param zk the handle through which the next node is created
     */
    synchronized void belongTo(ZooKeeper zk) {
        if (handle != zk) {
            handle = zk;
            paths.clear();
        }
    }

    synchronized void add(String path) {
        paths.add(path);
    }

    synchronized List<String> all() {
        return List.copyOf(paths);
    }

    synchronized boolean isEmpty() {
        return paths.isEmpty();
    }

    /**
     * Those that can be deleted now, if the caller knows that no claim is on its way. With another handle the session that
     * had created them is over, and they have ended with it.
     *
     * @param zk the present handle
     */
    synchronized List<String> of(ZooKeeper zk) {
        if (handle != zk) {
            paths.clear();
        }
        return List.copyOf(paths);
    }

    /**
     * What cannot be deleted is kept for another time. The stage fails if any of them could not be deleted; the
     * others are removed all the same.
     */
    CompletableFuture<Void> delete(ZooKeeper zk, List<String> given) {
        return CompletableFuture.allOf(given.stream()
                .map(path -> nodes.deleteIfThere(zk, path).thenRun(() -> gone(zk, path)))
                .toArray(CompletableFuture<?>[]::new));
    }

    /** Removed only now, so that a deletion whose answer is lost is repeated. */
    private void gone(ZooKeeper zk, String path) {
        nodes.unwatch(zk, path);
        synchronized (this) {
            paths.remove(path);
        }
    }
}
