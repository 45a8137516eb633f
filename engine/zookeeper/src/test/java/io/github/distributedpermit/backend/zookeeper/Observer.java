package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.contract.KeySnapshot;
import io.github.distributedpermit.contract.KeySnapshot.Row;
import io.github.distributedpermit.spi.snapshot.KeyDocument;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** Looks into the tree from outside, with a plain client that knows nothing of the backend but its format. */
final class Observer implements AutoCloseable {

    private static final int SESSION_MILLIS = 10_000;

    private final ZooKeeper zk;
    private final String root;

    Observer(String connectString, String root) {
        this.root = root;
        CountDownLatch connected = new CountDownLatch(1);
        try {
            zk = new ZooKeeper(connectString, SESSION_MILLIS, event -> countDown(event, connected));
            if (!connected.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("No server answers");
            }
        } catch (Exception e) {
            throw new IllegalStateException("The observer has no session", e);
        }
    }

    private static void countDown(WatchedEvent event, CountDownLatch connected) {
        if (event.getState() == KeeperState.SyncConnected) {
            connected.countDown();
        }
    }

    ZooKeeper zk() {
        return zk;
    }

    String path(String key) {
        return Names.keyPath(root, key);
    }

    KeySnapshot look(String key) {
        try {
            catchUp();
            KeyDocument document = KeyDocument.decode(zk.getData(path(key), false, null));
            Set<String> alive = Names.members(zk.getChildren(path(key), false)).keySet();
            List<Row> rows = document.records().stream()
                    .filter(r -> alive.contains(r.member()))
                    .map(Observer::row)
                    .toList();
            return new KeySnapshot(rows.stream().mapToInt(Row::permits).sum(), document.override(), rows);
        } catch (KeeperException.NoNodeException e) {
            return KeySnapshot.NONE;
        } catch (KeeperException | InterruptedException e) {
            throw new IllegalStateException("Can't look at " + key, e);
        }
    }

    /**
     * Sees whatever has been answered to any member. A {@code sync} is not enough: at the leader it waits for nothing, and a
     * follower may have answered a write which the leader is only about to apply. A write that changes nothing comes after it.
     */
    private void catchUp() throws KeeperException, InterruptedException {
        zk.multi(List.of(Op.check("/", -1)));
    }

    private static Row row(PermitRecord r) {
        return new Row(r.member(), r.permits(), r.wanted(), r.limit(), r.isQueued());
    }

    /** How many members are waiting. */
    long waiting(String key) {
        return look(key).rows().stream().filter(Row::queued).count();
    }

    /** All nodes from the root of the keys downwards, without the readable names of members that are alive. */
    List<String> tree() {
        try {
            catchUp();
            while (zk.exists(root, false) != null) {
                try {
                    List<String> all = new ArrayList<>(ZKUtil.listSubTreeBFS(zk, root));
                    boolean named = all.removeIf(path -> path.startsWith(root + "/+"));
                    return named && all.equals(List.of(root)) ? List.of() : all;
                } catch (KeeperException.NoNodeException e) {
                    // a node that vanished between two steps of the listing hides no other one: list again
                }
            }
            return List.of();
        } catch (KeeperException | InterruptedException e) {
            throw new IllegalStateException("Can't list the tree", e);
        }
    }

    /** The nodes of members of a key. */
    List<String> memberNodes(String key) {
        return tree().stream()
                .filter(path -> path.startsWith(path(key) + "/m-"))
                .toList();
    }

    /** The nodes of members that hold permits of a key. */
    List<String> holderNodes(String key) {
        List<String> holders = look(key).rows().stream()
                .filter(row -> row.permits() > 0)
                .map(Row::member)
                .toList();
        return memberNodes(key).stream()
                .filter(path -> holders.stream().anyMatch(path::contains))
                .toList();
    }

    void delete(String path) {
        try {
            zk.delete(path, -1);
        } catch (KeeperException | InterruptedException e) {
            throw new IllegalStateException("Can't delete " + path, e);
        }
    }

    /** A member that has just joined may create it at the same time, for its readable name. */
    private void createRoot() throws KeeperException, InterruptedException {
        try {
            zk.create(root, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
        } catch (KeeperException.NodeExistsException e) {
            // created by the member, or by an earlier test
        }
    }

    void write(String path, byte[] data) {
        try {
            createRoot();
            zk.create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException | InterruptedException e) {
            throw new IllegalStateException("Can't write " + path, e);
        }
    }

    @Override
    public void close() {
        try {
            zk.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
