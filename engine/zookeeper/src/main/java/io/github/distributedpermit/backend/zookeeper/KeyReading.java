package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.snapshot.KeyDocument;
import io.github.distributedpermit.spi.snapshot.NewerFormatException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Puts a snapshot together from the answers to three requests: sync, data, children. They are sent at once and arrive in this
 * order, because a server answers the requests of a session in the order in which they were sent. The first one that fails
 * fails the reading. Confined to the event thread of the handle.
 */
final class KeyReading {

    private final CompletableFuture<NodeSnapshot> result = new CompletableFuture<>();
    private final String path;
    /** The first two answers; {@code null} before them, or if they have failed. */
    private @Nullable NodeSnapshot document;

    KeyReading(String path) {
        this.path = path;
    }

    CompletableFuture<NodeSnapshot> result() {
        return result;
    }

    /**
     * The server has all that the leader had committed when the sync arrived there, so that the next two are up to date.
     *
     * @param rc the return code of the request, as in the client
     */
    void synced(int rc) {
        check(rc);
    }

    /** @param data {@code null} if the node has never had any, which no document of this library has */
    void document(int rc, byte @Nullable [] data, Stat stat) {
        if (rc == Code.NONODE.intValue()) {
            document = NodeSnapshot.NOTHING;
        } else if (check(rc)) {
            try {
                KeyDocument parsed = KeyDocument.decode(data == null ? new byte[0] : data);
                document = new NodeSnapshot(parsed, stat.getVersion(), stat.getCzxid(), List.of());
            } catch (NewerFormatException e) {
                result.completeExceptionally(e.at("Node '" + path + "' in ZooKeeper"));
            } catch (IllegalArgumentException e) {
                result.completeExceptionally(Faults.foreign(path, e));
            }
        }
    }

    /**
     * Children read after the document may contain a member that has joined since; it has no record yet, which does
     * no harm.
     */
    void children(int rc, List<String> names) {
        NodeSnapshot read = document;
        if (rc == Code.NONODE.intValue()) {
            // The node has vanished between the answers. It had no children then, and so no member that is alive.
            result.complete(NodeSnapshot.NOTHING);
        } else if (check(rc) && read != null) {
            // If the node was created between the two answers, it counts as absent; a transaction that rests on that
            // fails.
            result.complete(
                    read.exists() ? new NodeSnapshot(read.document(), read.nodeVersion(), read.born(), names) : read);
        }
    }

    /**
     * Whether a request was successful; if not, the reading fails. Later calls have no effect on a result that has
     * failed.
     */
    private boolean check(int rc) {
        if (rc != 0) {
            result.completeExceptionally(KeeperException.create(Code.get(rc), path));
        }
        return rc == 0;
    }
}
