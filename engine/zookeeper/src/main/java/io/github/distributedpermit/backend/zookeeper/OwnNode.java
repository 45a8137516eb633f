package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Holding;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * The member's ephemeral node of one key. It shows the other members of the key that this one is alive, and a member that
 * serves this one writes the grant into it. Only this node is watched, so that changes among other members cause no
 * traffic here.
 *
 * <p>A name is in one of three states: <em>tried</em> while it is unknown whether a transaction has created the node,
 * <em>joined</em> when that was confirmed, and <em>orphaned</em> when the session in which it was created was given up.
 * Thread-safe; events run without the monitor.
 *
 * <p>The rule is that a node is created only with a name that was never used, and only under a watch that was requested before.
 */
final class OwnNode implements Watcher {

    /** Runs when another member has served this one. */
    private final Consumer<Holding> served;
    /** Runs when an operator has deleted the node: all others now take this member for gone, and its permits for free. */
    private final Runnable evicted;
    /** Of the node of the key, under which this one is. */
    private final String path;

    private final MemberContext member;

    /** The node, once its creation was confirmed. */
    private @Nullable String name;
    /** The node that was created, or may have been. A repeated claim uses the same name, so that at most one exists. */
    private @Nullable String tried;
    /** A server has been asked to watch {@link #tried}, and that has not failed. */
    private boolean watched;

    /** The member deletes the node itself, so that its deletion is no loss. */
    private boolean deletionExpected;
    /**
     * Nodes of a session that was given up and may yet have survived: they do not end with it. They are deleted by
     * {@link ZooKeeperSnapshotStore#rested}.
     */
    private final OrphanedNodes orphaned;

    /** The callbacks run without locks. */
    OwnNode(String path, MemberContext member, Consumer<Holding> served, Runnable evicted) {
        this.path = path;
        this.member = member;
        this.served = served;
        this.evicted = evicted;
        this.orphaned = new OrphanedNodes(member.nodes());
    }

    /**
     * {@code null} if the member has not joined the key in this session. Only a node whose creation was confirmed may
     * guard a transaction.
     */
    synchronized @Nullable String name() {
        return name;
    }

    /**
     * Finds the node again if the answer to its making was lost, and notices if it is gone.
     *
     * @param children the nodes of the key, from a read that is up to date
     */
    synchronized void adopt(ZooKeeper zk, List<String> children) {
        if (name == null && tried != null && children.contains(tried)) {
            name = tried;
        }
        if (name != null && !children.contains(name)) {
            unwatch(zk, path(name));
            forget();
        }
    }

    /**
     * The name of a node that is about to be created. It is watched before it exists: a grant that is written between its
     * creation and a later watch would not be noticed.
     */
    synchronized String join(ZooKeeper zk) {
        // After a lost answer the node may exist. With the same name the creation then conflicts, instead of making a
        // second node.
        String next = tried;
        if (next == null) {
            next = member.nextNode();
            tried = next;
        }
        orphaned.belongTo(zk);
        watch(zk);
        return next;
    }

    /**
     * Has the node watched that was made or may have been, unless it is. The client restores a watch after a broken
     * connection only if the server had confirmed it before; the node may be there although that answer was lost. At
     * most one request for it is under way.
     */
    synchronized void watch(ZooKeeper zk) {
        String node = tried;
        if (node == null || watched) {
            return;
        }
        watched = true;
        member.nodes().watch(zk, path(node), this).whenComplete((done, failure) -> {
            if (failure == null) {
                look(zk); // a grant that was written before the server set the watch has caused no event
            } else {
                unwatched(node);
            }
        });
    }

    /** The watch was not confirmed; it is set again with the next reading, or when the connection is back. */
    private synchronized void unwatched(String node) {
        watched = watched && !node.equals(tried);
    }

    /**
     * Unless the session was given up meanwhile: the node is not to be used again then, but deleted.
     *
     * @param made the name of the node that a confirmed transaction has created or rested on
     */
    synchronized void joined(String made) {
        if (made.equals(tried)) {
            name = made;
            deletionExpected = false;
        }
    }

    /**
     * The session was given up. No claim that is sent from now on rests on the node. The ensemble may have kept the
     * session, so that the node is remembered for its deletion.
     */
    synchronized void giveUp() {
        String node = tried;
        if (node != null) {
            orphaned.add(path(node));
        }
        forget();
    }

    OrphanedNodes orphaned() {
        return orphaned;
    }

    /**
     * It is gone. The watch stays on the server until {@link #unwatch} removes it or the session ends; its events are
     * ignored, because the name is not used again.
     */
    synchronized void forget() {
        name = null;
        tried = null;
        watched = false;
        deletionExpected = false;
    }

    /**
     * The path of the node to delete, which may not exist; {@code null} if none was ever made in this session. From
     * now on the deletion is expected. {@link #stay} undoes this if it fails.
     */
    synchronized @Nullable String expectDeletion() {
        deletionExpected = true;
        return tried == null ? null : path(tried);
    }

    /**
     * The paths of all nodes to delete, which may not exist. Includes the nodes of sessions that were given up,
     * because no later claim of this member will delete them.
     */
    synchronized List<String> expectDeletionOfAll() {
        List<String> all = new ArrayList<>(orphaned.all());
        String current = expectDeletion();
        if (current != null) {
            all.add(current);
        }
        return all;
    }

    /** The deletion has failed, so that the node is still in use. */
    synchronized void stay() {
        deletionExpected = false;
    }

    /** A watch outlives its node. The client would set it again after each reconnection. */
    void unwatch(ZooKeeper zk, String left) {
        member.nodes().unwatch(zk, left);
    }

    /**
     * Called by the event thread of the client. The watch is persistent, so that it need not be set again. The event
     * has no content: what the other member has written is read with a request.
     */
    @Override
    public void process(WatchedEvent event) {
        Link link = member.session().link();
        String changed = event.getPath();
        if (changed == null || link == null || !isOwn(changed)) {
            return;
        }
        if (event.getType() == Event.EventType.NodeDataChanged) {
            look(link.zk());
        } else if (event.getType() == Event.EventType.NodeDeleted) {
            deleted(link.zk(), changed);
        }
    }

    /** Whether an event concerns the node that the member uses; those of an orphaned node, or of one it deletes, do not count. */
    private synchronized boolean isOwn(String changed) {
        return name != null && !deletionExpected && changed.equals(path(name));
    }

    /** Events during the broken connection were not delivered. */
    void reconnected(ZooKeeper zk) {
        watch(zk);
        look(zk);
    }

    /**
     * Reads what was left here, perhaps for the second time. A grant that is passed on twice has the same version,
     * and the core ignores the second.
     */
    void look(ZooKeeper zk) {
        String known = name();
        if (known == null) {
            return;
        }
        member.nodes().data(zk, path(known)).whenComplete((data, failure) -> {
            if (failure == null) {
                GrantNote.decode(data).ifPresent(served);
            } else if (Faults.isMissing(failure)) {
                deleted(zk, path(known));
            }
        });
    }

    /**
     * The node is gone although the session lives, and the member has not deleted it. The session lives, so only an
     * operator can have deleted the node. Its permits are given to others from then on.
     */
    private void deleted(ZooKeeper zk, String gone) {
        synchronized (this) {
            if (!isOwn(gone)) {
                return;
            }
            forget();
        }
        unwatch(zk, gone);
        evicted.run();
    }

    private String path(String node) {
        return path + "/" + node;
    }
}
