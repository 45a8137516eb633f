package io.github.distributedpermit.backend.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * The readable names of members, for operators: each member has an ephemeral node for its session, with its name as data. They
 * are no part of the protocol. A name that can't be written or read is left out, and members of older versions have none.
 * Thread-safe.
 */
final class ReadableNames {

    private static final System.Logger LOG = System.getLogger(ReadableNames.class.getName());
    /** A member never changes its name, so that each is read once. */
    private static final int MOST_KNOWN = 10_000;
    /** Names read for one inspection; the next one goes on with the others. */
    private static final int MOST_READ = 200;

    private final Map<String, String> known = new ConcurrentHashMap<>();
    private final Nodes nodes;
    private final String member;
    private final String name;

    ReadableNames(Nodes nodes, String member, String name) {
        this.nodes = nodes;
        this.member = member;
        this.name = name;
    }

    /** Writes the member's name for a new session. A node of the session before is replaced, as it ends with that session. */
    CompletableFuture<Void> announce(ZooKeeper zk) {
        String path = path(member);
        Op creation = nodes.create(path, name.getBytes(StandardCharsets.UTF_8), CreateMode.EPHEMERAL);
        return create(zk, List.of(creation))
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

    private static boolean isThere(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof KeeperException.NodeExistsException
                || cause instanceof KeeperException.NodeExistsException;
    }

    /** The path of the member's own name, to be deleted when it leaves. */
    String ownPath() {
        return path(member);
    }

    /** The names of members, without those that have none. */
    CompletableFuture<Map<String, String>> of(ZooKeeper zk, Set<String> members) {
        List<CompletableFuture<Void>> readings = members.stream()
                .filter(m -> !known.containsKey(m))
                .limit(MOST_READ)
                .map(m -> read(zk, m))
                .toList();
        return CompletableFuture.allOf(readings.toArray(CompletableFuture<?>[]::new))
                .thenApply(done -> {
                    Map<String, String> found = new HashMap<>(known);
                    found.keySet().retainAll(members);
                    return found;
                });
    }

    private CompletableFuture<Void> read(ZooKeeper zk, String of) {
        return nodes.data(zk, path(of)).handle((data, failure) -> {
            if (failure == null) {
                if (known.size() >= MOST_KNOWN) {
                    known.clear();
                }
                known.put(of, new String(data, StandardCharsets.UTF_8));
            }
            return null;
        });
    }

    private String path(String of) {
        return Names.readableNamePath(nodes.root(), of);
    }
}
