package io.github.distributedpermit.backend.zookeeper;

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
    private @Nullable NodeSnapshot document;

    KeyReading(String path) {
        this.path = path;
    }

    CompletableFuture<NodeSnapshot> result() {
        return result;
    }

    /** The server has all that the leader had committed when the sync arrived there, so that the next two are up to date. */
    void synced(int rc) {
        check(rc);
    }

    void document(int rc, byte @Nullable [] data, Stat stat) {
        if (rc == Code.NONODE.intValue()) {
            document = NodeSnapshot.NOTHING;
        } else if (check(rc)) {
            try {
                KeyDocument parsed = KeyDocument.decode(data == null ? new byte[0] : data);
                document = new NodeSnapshot(parsed, stat.getVersion(), stat.getCzxid(), List.of());
            } catch (NewerFormatException e) {
                result.completeExceptionally(e.at(path));
            } catch (IllegalArgumentException e) {
                result.completeExceptionally(Faults.foreign(path, e));
            }
        }
    }

    void children(int rc, List<String> names) {
        NodeSnapshot read = document;
        if (rc == Code.NONODE.intValue()) {
            result.complete(NodeSnapshot.NOTHING);
        } else if (check(rc) && read != null) {
            // If the node was created between the two answers, it counts as absent; a transaction that rests on that
            // fails.
            result.complete(
                    read.exists() ? new NodeSnapshot(read.document(), read.nodeVersion(), read.born(), names) : read);
        }
    }

    /** Whether a request was successful; if not, the reading fails. */
    private boolean check(int rc) {
        if (rc != 0) {
            result.completeExceptionally(KeeperException.create(Code.get(rc), path));
        }
        return rc == 0;
    }
}
