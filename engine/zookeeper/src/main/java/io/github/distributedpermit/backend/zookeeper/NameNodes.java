package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.PermitStoreException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * The nodes with the readable names of members: each member has an ephemeral node for its session, with its name as data. A name
 * that can't be written is missing; members of older versions have none. Thread-safe.
 *
 * <p>Names are no part of the protocol, so that no failure here fails anything else.
 */
final class NameNodes {

    private static final System.Logger LOG = System.getLogger(NameNodes.class.getName());
    private final Nodes nodes;
    private final String member;
    private final String name;

    NameNodes(Nodes nodes, String member, String name) {
        this.nodes = nodes;
        this.member = member;
        this.name = name;
    }

    /**
     * Writes the member's name for a new session. A node of the session before is replaced, as it ends with that
     * session. The returned stage never fails. If the node above all keys is missing, it is created first.
     */
    CompletableFuture<Void> announce(ZooKeeper zk) {
        String path = path(member);
        Op creation = nodes.create(path, name.getBytes(StandardCharsets.UTF_8), CreateMode.EPHEMERAL);
        return create(zk, List.of(creation))
                // The node of an earlier session vanishes with it, so that it is made anew instead of being kept.
                .exceptionallyCompose(e -> isThere(e)
                        ? create(zk, List.of(Op.delete(path, -1), creation))
                        : Faults.isMissing(e)
                                ? nodes.createRoot(zk).thenCompose(done -> create(zk, List.of(creation)))
                                : CompletableFuture.failedFuture(e))
                .exceptionally(e -> {
                    LOG.log(System.Logger.Level.DEBUG, "The name of this member could not be written", e);
                    return null;
                });
    }

    @SuppressWarnings("NullAway") // null is the one value of Void
    private CompletableFuture<Void> create(ZooKeeper zk, List<Op> operations) {
        return nodes.commit(zk, operations).thenApply(stat -> null);
    }

    /** The session before may not have ended yet. */
    private static boolean isThere(Throwable failure) {
        return PermitStoreException.causeOf(failure) instanceof KeeperException.NodeExistsException;
    }

    /**
     * The path of the member's own name, to be deleted when it leaves. The node would otherwise stay until the
     * session ends, and that session belongs to the application.
     */
    String ownPath() {
        return path(member);
    }

    /**
     * Reads the name of any member; fails if it has none. A server that lags behind may lack the name of a new
     * member, which is then left out.
     */
    CompletableFuture<String> read(ZooKeeper zk, String of) {
        return nodes.data(zk, path(of)).thenApply(data -> new String(data, StandardCharsets.UTF_8));
    }

    private String path(String of) {
        return Names.readableNamePath(nodes.root(), of);
    }
}
