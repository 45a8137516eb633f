package io.github.distributedpermit.backend.zookeeper;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.utils.ZKPaths;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.SetDataResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.CreateRequest;

/**
 * Asynchronous access to the tree. Requests go to the handle itself, not through Curator's retries, which would repeat a
 * transaction in another session; Curator knows the namespace and the access rights of new nodes. Nothing here blocks,
 * and answers arrive in the order of the requests. Thread-safe.
 *
 * <p>A request that the client refuses at once, such as one over a closed handle, ends like one that was not answered: with a
 * code.
 */
final class Nodes {

    /** Failures of a check, which only a server finds out. The path of the connect string may be missing, or be another's. */
    private static final Set<Code> FAILED_AS_COMMITTED = EnumSet.of(Code.NONODE, Code.NOAUTH);

    /** Without its namespace, which is part of {@link #root}. */
    private final CuratorFramework client;
    /** The path of the node above all keys, with the namespace. */
    private final String root;

    Nodes(CuratorFramework client, String root) {
        this.root = ZKPaths.fixForNamespace(client.getNamespace(), root);
        this.client = client.usingNamespace(null);
    }

    String root() {
        return root;
    }

    String path(String key) {
        return Names.keyPath(root, key);
    }

    /**
     * What the leader knows: a server that lags behind catches up before it reads. The document is read before the
     * names of the nodes below it: in the other order a member that joined in between would seem to be gone, and its
     * permits would be granted again. The requests are sent without waiting, so that a read costs one round trip.
     */
    CompletableFuture<NodeSnapshot> read(ZooKeeper zk, String path) {
        KeyReading reading = new KeyReading(path);
        zk.sync(path, (rc, p, c) -> reading.synced(rc), null);
        zk.getData(path, false, (rc, p, c, data, stat) -> reading.document(rc, data, stat), null);
        zk.getChildren(path, false, (rc, p, c, children) -> reading.children(rc, children), null);
        return reading.result();
    }

    /**
     * Fails if the node above all keys is another identity's. Any may connect, and a key that is not there is
     * answered to all alike, but under that node no other identity can use one. For inspections only: a claim finds
     * out by its transaction.
     */
    CompletableFuture<Void> checkRoot(ZooKeeper zk) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        zk.getData(root, false, (rc, p, c, data, stat) -> end(result, rc, root), null);
        return result.exceptionallyCompose(e -> Faults.isMissing(e) ? checkTop(zk) : CompletableFuture.failedFuture(e));
    }

    /** A client that is confined to a path of the tree cannot make that path itself. */
    private CompletableFuture<Void> checkTop(ZooKeeper zk) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        zk.exists("/", false, (rc, p, c, stat) -> end(result, rc, "/"), null);
        return result.exceptionallyCompose(e -> CompletableFuture.failedFuture(
                Faults.isMissing(e) ? Faults.nowhere(client.getZookeeperClient().getCurrentConnectionString(), e) : e));
    }

    /** The names of the nodes below the one above all keys, as the connected server has them, which may lag behind the leader. */
    CompletableFuture<List<String>> names(ZooKeeper zk) {
        CompletableFuture<List<String>> result = new CompletableFuture<>();
        zk.getChildren(
                root,
                false,
                (rc, p, c, names) -> {
                    boolean missing = rc == Code.NONODE.intValue();
                    settle(result, missing ? 0 : rc, root, missing ? List.of() : names);
                },
                null);
        return result;
    }

    /** The content of a node as the connected server has it, which may lag behind the leader. */
    CompletableFuture<byte[]> data(ZooKeeper zk, String path) {
        CompletableFuture<byte[]> result = new CompletableFuture<>();
        zk.getData(path, false, (rc, p, c, data, stat) -> settle(result, rc, path, data), null);
        return result;
    }

    /**
     * Ends when a quorum of the ensemble has committed a transaction that changes nothing, in whatever state the tree is and
     * whatever rights the client has: a transaction that fails is committed as a failure. A {@code sync} is no
     * substitute, because a leader that has lost its quorum answers it until it notices.
     */
    CompletableFuture<Void> commitNothing(ZooKeeper zk) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        zk.multi(
                List.of(Op.check("/", -1)),
                (rc, p, c, results) -> end(result, FAILED_AS_COMMITTED.contains(Code.get(rc)) ? 0 : rc, "/"),
                null);
        return result;
    }

    /**
     * All or nothing. After a lost connection it is unknown whether the transaction was executed. The client does not
     * repeat it.
     *
     * @return how the last node that was written looks now
     */
    CompletableFuture<Stat> commit(ZooKeeper zk, List<Op> operations) {
        CompletableFuture<Stat> result = new CompletableFuture<>();
        String path = operations.get(operations.size() - 1).getPath();
        zk.multi(
                operations,
                (rc, p, c, results) -> settle(result, rc, path, rc == 0 ? last(results) : new Stat()),
                null);
        return result;
    }

    /** A transaction of deletions has no such node. */
    private static Stat last(List<OpResult> results) {
        return results.get(results.size() - 1) instanceof SetDataResult written ? written.getStat() : new Stat();
    }

    /**
     * Also a node that is yet to be made. Fails if no server has confirmed it: then the client does not restore it either.
     *
     * @param watcher is called for each change until the watch is removed, also after the node was deleted
     */
    CompletableFuture<Void> watch(ZooKeeper zk, String path, Watcher watcher) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        zk.addWatch(
                path,
                watcher,
                AddWatchMode.PERSISTENT,
                (rc, p, c) -> end(result, rc == Code.NONODE.intValue() ? 0 : rc, path),
                null);
        return result;
    }

    /**
     * Removes the watches of a node that was deleted or is being deleted, and whose name is not used again; from the client
     * also if the server cannot be asked. The removal of one watcher would leave the watch on the server, where it would
     * stay until the end of the session: for that the client only asks the server whether there is one.
     */
    void unwatch(ZooKeeper zk, String path) {
        zk.removeAllWatches(path, WatcherType.Any, true, (rc, p, c) -> {}, null);
    }

    /** Deletes a node; ends also if there is none. */
    CompletableFuture<Void> deleteIfThere(ZooKeeper zk, String path) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        zk.delete(path, -1, (rc, p, c) -> end(result, rc == Code.NONODE.intValue() ? 0 : rc, path), null);
        return result;
    }

    /**
     * Deletes it once the server can be reached again, if that is still in the life of the client. Used by a member
     * that leaves while the ensemble is out of reach: its nodes do not end with the session, which the application
     * keeps.
     */
    void deleteSomeTime(String path) throws Exception {
        client.delete().guaranteed().inBackground().forPath(path);
    }

    Op create(String path, CreateMode mode) {
        return create(path, new byte[0], mode);
    }

    /**
     * Curator supplies the access rights that the application has configured; the operation itself is the client's,
     * for use in a transaction.
     */
    Op create(String path, byte[] data, CreateMode mode) {
        try {
            Op made = client.transactionOp()
                    .create()
                    .withMode(mode)
                    .forPath(path, new byte[0])
                    .get();
            CreateRequest request = (CreateRequest) made.toRequestRecord();
            return Op.create(path, data, request.getAcl(), mode); // never compressed
        } catch (Exception e) {
            throw new IllegalStateException("No access rights for new nodes", e);
        }
    }

    /**
     * Makes the node above all keys, and those above it. Ends successfully if the node exists already, since another
     * member may create it at the same time.
     */
    CompletableFuture<Void> createRoot(ZooKeeper zk) {
        // without its top, Curator would try for ever
        return checkTop(zk).thenCompose(there -> createRoot());
    }

    private CompletableFuture<Void> createRoot() {
        CompletableFuture<Void> result = new CompletableFuture<>();
        try {
            client.create()
                    .creatingParentContainersIfNeeded()
                    .withMode(CreateMode.CONTAINER)
                    .inBackground((curator, event) -> {
                        boolean there = event.getResultCode() == Code.NODEEXISTS.intValue();
                        end(result, there ? 0 : event.getResultCode(), root);
                    })
                    .forPath(root, new byte[0]);
        } catch (Exception e) {
            result.completeExceptionally(e);
        }
        return result;
    }

    /** Ends a request without a result. */
    @SuppressWarnings("NullAway") // null is the one value of Void
    private static void end(CompletableFuture<Void> result, int rc, String path) {
        settle(result, rc, path, null);
    }

    /**
     * Ends a request by its return code, as the client's own exception.
     *
     * @param rc the return code of the request; 0 is success
     */
    private static <T> void settle(CompletableFuture<T> result, int rc, String path, T value) {
        if (rc == 0) {
            result.complete(value);
        } else {
            result.completeExceptionally(KeeperException.create(Code.get(rc), path));
        }
    }
}
