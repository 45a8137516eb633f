package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.Commit;
import io.github.distributedpermit.spi.snapshot.PlannedCommit;
import io.github.distributedpermit.spi.snapshot.SnapshotStore;
import io.github.distributedpermit.spi.snapshot.StoreEvents;
import io.github.distributedpermit.spi.snapshot.StoreSession;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * ZooKeeper as a {@link SnapshotStore}. The member has one session ({@link MemberSession}); each key has a document, which is
 * read as a whole and committed by its version ({@link NodeTransaction}), and one ephemeral node per member ({@link OwnNode}).
 * A record in the document counts only while the node of its member exists.
 *
 * <p>Thread-safe. The layer calls {@code read} and {@code commit} of one key one at a time; answers arrive on the event thread of
 * the client, which must not be blocked.
 *
 * <p>Two rules keep the limit. A transaction is sent only in the session for which it was planned, and its result
 * counts only if the session was not given up since. A member's node exists before its record can count, and is
 * deleted only when no claim is under way.
 */
final class ZooKeeperSnapshotStore implements SnapshotStore<NodeSnapshot>, MemberSession.Events {

    private static final System.Logger LOG = System.getLogger(ZooKeeperSnapshotStore.class.getName());
    /** What a server takes at most in one message, unless it is configured otherwise, is a little more. */
    private static final int MAX_BYTES = 1_000_000;
    /** After so many conflicts an eviction fails, and the operator can repeat it. */
    private static final int EVICTION_ATTEMPTS = 20;
    /** How long an inspection waits for a session. */
    private static final long PATIENCE_SECONDS = 2;
    /** As long as {@link SnapshotStore#close} allows. */
    private static final long FAREWELL_MILLIS = 300;

    /** By key as the user gave it; an entry stays until {@link #release}. */
    private final ConcurrentMap<String, OwnNode> ownNodes = new ConcurrentHashMap<>();

    private final ScheduledExecutorService scheduler;
    /** All requests go through it. */
    private final Nodes nodes;

    private final MemberSession session;
    private final MemberContext context;
    private final NameNodes names;
    private final Duration length;
    private volatile @Nullable StoreEvents events;
    /** No transaction is sent from then on, except one that has just passed the check; see {@link #commit}. */
    private volatile boolean closed;

    ZooKeeperSnapshotStore(
            CuratorFramework client,
            ZooKeeperSettings settings,
            Member member,
            ScheduledExecutorService scheduler,
            LongSupplier ticker) {
        this.length = settings.sessionTimeout();
        this.scheduler = scheduler;
        this.nodes = new Nodes(client, settings.root());
        this.session = new MemberSession(client, nodes, length, this, scheduler, ticker);
        this.names = new NameNodes(nodes, member.id(), member.name());
        this.context = new MemberContext(member.id(), nodes, session, ticker, new AtomicLong());
    }

    /** Returns at once; the session becomes ready when a quorum has confirmed it. */
    @Override
    public void open(StoreEvents layer) {
        events = layer;
        session.begin();
    }

    @Override
    public Duration session() {
        return length;
    }

    @Override
    public Optional<String> problem() {
        return session.problem();
    }

    /**
     * Up to date, because a {@code sync} precedes it. Without a session it fails instead of waiting, and the core
     * repeats its claim.
     */
    @Override
    public CompletionStage<NodeSnapshot> read(String key) {
        Link link = session.link();
        if (link == null) {
            return CompletableFuture.failedFuture(sessionEnded());
        }
        OwnNode own = own(key);
        return nodes.read(link.zk(), nodes.path(key))
                .thenApply(snapshot -> {
                    if (!session.answered(link)) {
                        throw sessionEnded(); // the answer was overtaken by the loss of the session
                    }
                    own.adopt(link.zk(), snapshot.children());
                    own.watch(link.zk());
                    return snapshot;
                })
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(failed(link, key, failure)));
    }

    /** Needs a connection, and rests on no record of this member. */
    @Override
    public CompletionStage<NodeSnapshot> inspect(String key) {
        return session.whenReady()
                .orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .exceptionallyCompose(e -> CompletableFuture.failedFuture(PermitStoreException.passing(
                        "No ZooKeeper server is connected to ask about '%s'".formatted(KeyEncoding.encode(key)), e)))
                // A key without a node looks the same with and without the right to use it, so that the right is
                // checked first.
                .thenCompose(
                        link -> nodes.checkRoot(link.zk()).thenCompose(ours -> nodes.read(link.zk(), nodes.path(key))))
                .exceptionallyCompose(e -> CompletableFuture.failedFuture(Faults.translate(key, e)));
    }

    /** The readable names of members lie beside the keys. */
    @Override
    public CompletionStage<List<String>> keyNames(int most) {
        Link link = session.link();
        return link == null
                ? CompletableFuture.failedFuture(sessionEnded())
                : nodes.names(link.zk())
                        .thenApply(all -> all.stream()
                                .filter(name -> !name.startsWith("+"))
                                .toList())
                        .exceptionallyCompose(e -> CompletableFuture.failedFuture(Faults.translate("", e)));
    }

    /** Without a session the name is left out, since names are no part of the protocol. */
    @Override
    public CompletionStage<Optional<String>> memberName(String member) {
        Link link = session.link();
        return link == null
                ? CompletableFuture.completedFuture(Optional.empty())
                : names.read(link.zk(), member).thenApply(Optional::of);
    }

    /**
     * A record counts only while the member's node exists, so that the deletion of the node takes its permits. The document has
     * to be as it was read: an eviction that arrives late must not take permits that the member has got since.
     */
    @Override
    public CompletionStage<Integer> evict(String key, String process) {
        return evict(key, process, EVICTION_ATTEMPTS);
    }

    private CompletionStage<Integer> evict(String key, String process, int attempts) {
        return inspect(key).thenCompose(at -> {
            Link link = session.link();
            if (link == null) {
                return CompletableFuture.failedFuture(sessionEnded());
            }
            int permits = at.members().containsKey(process)
                    ? at.record(process).map(PermitRecord::permits).orElse(0)
                    : 0;
            if (permits == 0) {
                return CompletableFuture.completedFuture(0);
            }
            // The members of the key notice the deletion of the node by their next read, and the evicted one by its
            // watch.
            return nodes.commit(link.zk(), eviction(nodes.path(key), at, process))
                    .thenApply(done -> permits)
                    .exceptionallyCompose(e -> Faults.isConflict(e) && attempts > 1
                            ? evict(key, process, attempts - 1).toCompletableFuture()
                            : CompletableFuture.failedFuture(failed(link, key, e)));
        });
    }

    /**
     * @param at as it was read; the transaction fails if the document has changed since
     * @param process the id of the member
     */
    static List<Op> eviction(String path, NodeSnapshot at, String process) {
        List<Op> operations = new ArrayList<>();
        operations.add(Op.check(path, at.nodeVersion()));
        Names.ofMember(at.children(), process).forEach(node -> operations.add(Op.delete(path + "/" + node, -1)));
        return operations;
    }

    /**
     * Perhaps the key has no node, and one write will do. If it has one the creation conflicts, and the key is read.
     */
    @Override
    public NodeSnapshot assumedUnused(String key) {
        return NodeSnapshot.NOTHING;
    }

    /**
     * Where other members commit as well, a guess mostly conflicts. The member's own node is the guard of a guess: while it
     * exists, the node of the key is the one that the guess rests on.
     */
    @Override
    public boolean mayCommitUnread(PlannedCommit<NodeSnapshot> planned, boolean alone) {
        return alone && (!planned.before().exists() || own(planned.key()).name() != null);
    }

    /**
     * Without its node the member joins again. The record would be dropped by the next reader, because no node stands
     * for it.
     */
    @Override
    public boolean mayStayUnwritten(PlannedCommit<NodeSnapshot> planned) {
        return own(planned.key()).name() != null;
    }

    /**
     * Commits by the version of the document: any change of the key by another member makes the transaction fail. The
     * thread of the caller sends the transaction; the stage ends on the event thread of the client.
     */
    @Override
    public CompletionStage<Commit<NodeSnapshot>> commit(PlannedCommit<NodeSnapshot> planned) {
        NodeSnapshot before = planned.before();
        if (before.children().isEmpty() && planned.after().isEmpty()) {
            // The node vanishes by itself. The snapshot after it must not contain the record any more: the worker would
            // keep the key because of it.
            NodeSnapshot vanishing = new NodeSnapshot(
                    before.documentOf(planned.after()), before.nodeVersion(), before.born(), List.of());
            return CompletableFuture.completedFuture(new Commit.Done<>(vanishing));
        }
        String path = nodes.path(planned.key());
        NodeTransaction transaction = new NodeTransaction(planned, nodes, path);
        // Checked here, because a server closes the connection of a client that sends too much.
        int bytes = transaction.document().encode().length;
        if (bytes > MAX_BYTES) {
            return CompletableFuture.completedFuture(new Commit.Denied<>(Faults.tooMany(path, bytes)));
        }
        Link link = session.link();
        // The number of the layer's session is the epoch, see ready().
        if (closed || link == null || link.epoch() != planned.session().number()) {
            return CompletableFuture.completedFuture(new Commit.SessionLost<>(sessionEnded()));
        }
        OwnNode own = own(planned.key());
        long sentAt = context.now();
        // Read once: the session may be given up between here and the transaction, whose guard then fails or whose
        // result is ignored.
        String name = own.name();
        // The member's node is created by the transaction that first records something for it. A guess that the key is
        // unused conflicts if it was wrong.
        boolean joins =
                name == null && planned.after().view(planned.member(), 0).isPresent();
        String joining = joins ? own.join(link.zk()) : null;
        CompletableFuture<Stat> sent = nodes.commit(link.zk(), transaction.operations(name, joining));
        if (closed) {
            // close() may have deleted the member's nodes before this transaction creates one. The requests of a
            // session
            // are executed in the order in which they are sent, so that this deletion finds it.
            deleteAll(own, link);
        }
        // An answer also proves that the session lives.
        return sent.handle((stat, failure) -> {
                    if (failure != null) {
                        return failed(link, planned, failure);
                    }
                    if (!session.committed(link, sentAt)) {
                        return CompletableFuture.completedFuture(
                                (Commit<NodeSnapshot>) new Commit.SessionLost<NodeSnapshot>(sessionEnded()));
                    }
                    return CompletableFuture.completedFuture((Commit<NodeSnapshot>)
                            new Commit.Done<>(after(before, transaction, own, name == null ? joining : name, stat)));
                })
                .thenCompose(result -> result);
    }

    /**
     * The snapshot as the transaction has left it, which saves a reading before the next claim.
     *
     * @param own receives the name of its node, whose creation is confirmed by this answer
     * @param node the member's node after the transaction; {@code null} if it has none
     */
    private static NodeSnapshot after(
            NodeSnapshot before, NodeTransaction transaction, OwnNode own, @Nullable String node, Stat stat) {
        NodeSnapshot after =
                new NodeSnapshot(transaction.document(), stat.getVersion(), stat.getCzxid(), before.children());
        if (node == null) {
            return after;
        }
        own.joined(node);
        return after.with(node);
    }

    /**
     * What a failed transaction means. The node above all keys is created when it turns out to be missing; the layer then repeats
     * the change. A broken connection leaves the outcome unknown.
     *
     * @param link with which the transaction was sent
     */
    private CompletableFuture<Commit<NodeSnapshot>> failed(
            Link link, PlannedCommit<NodeSnapshot> planned, Throwable failure) {
        // Only the node above all keys can be missing, since the transaction creates the node of the key itself.
        if (!planned.before().exists() && Faults.isMissing(failure)) {
            return nodes.createRoot(link.zk())
                    .handle((done, e) ->
                            e == null ? new Commit.Conflict<>() : new Commit.Denied<>(failed(link, planned.key(), e)));
        }
        if (Faults.isConflict(failure)) {
            return CompletableFuture.completedFuture(new Commit.Conflict<>());
        }
        PermitStoreException translated = failed(link, planned.key(), failure);
        return CompletableFuture.completedFuture(
                translated.isPermanent() ? new Commit.Denied<>(translated) : new Commit.OutcomeUnknown<>(translated));
    }

    /**
     * The exception for the core. If the server says that the session is over, it is given up. Only the server's word
     * counts for that; a lost connection leaves the session as it is.
     */
    private PermitStoreException failed(Link link, String key, Throwable failure) {
        if (Faults.isSessionLoss(failure)) {
            session.expired(link);
        }
        return Faults.translate(key, failure);
    }

    /** Passing: the next session can execute the repeated claim. */
    private static PermitStoreException sessionEnded() {
        return PermitStoreException.passing("The ZooKeeper session has ended", null);
    }

    private OwnNode own(String key) {
        return ownNodes.computeIfAbsent(
                key,
                k -> new OwnNode(
                        nodes.path(k),
                        context,
                        notice -> events().served(k, notice),
                        () -> events().reduced(k, 0))); // all permits of the key are gone with the node
    }

    /**
     * Deletes what an earlier session left, once the member has no record by it or has joined by another node. The
     * layer calls it while no claim of the key is under way, which is the condition for a deletion in {@link
     * OrphanedNodes}.
     */
    @Override
    public void rested(String key, @Nullable NodeSnapshot last) {
        OwnNode own = ownNodes.get(key);
        Link link = session.link();
        if (own == null || link == null) {
            return;
        }
        own.watch(link.zk());
        OrphanedNodes orphaned = own.orphaned();
        List<String> paths = orphaned.of(link.zk());
        if (paths.isEmpty()) {
            return;
        }
        // What the document says is not known. A check reads it, and the next rest decides.
        if (own.name() == null && last == null) {
            events().check(key);
        } else if (own.name() != null || isFree(last)) {
            orphaned.delete(link.zk(), paths);
        }
    }

    /** Whether no record of the member counts any more, so that its last node can be deleted. */
    private boolean isFree(@Nullable NodeSnapshot last) {
        return last != null && last.record(context.member()).isEmpty();
    }

    /**
     * Deletes the member's nodes. A key with orphaned nodes is kept. Without a session nothing is deleted now, and
     * the keys stay until the next attempt.
     */
    @Override
    public CompletionStage<Set<String>> release(Set<String> keys) {
        Link link = session.link();
        if (link == null) {
            return CompletableFuture.completedFuture(Set.of());
        }
        return new NodeRelease(ownNodes, nodes, link.zk()).of(keys);
    }

    /** The member keeps its id over all sessions, so that the layer removes what an earlier one has left. */
    @Override
    public void ready(Link link) {
        events().ready(new StoreSession(context.member(), link.epoch()));
        if (!closed) {
            names.announce(link.zk());
        }
    }

    @Override
    public void reconnected(Link link) {
        ownNodes.values().forEach(own -> own.reconnected(link.zk()));
    }

    @Override
    public void alive(long sentAtNanos) {
        events().alive(sentAtNanos);
    }

    /**
     * The nodes are given up before the layer receives the loss, so that no claim of the next session rests on one of
     * them.
     */
    @Override
    public void lost() {
        ownNodes.values().forEach(OwnNode::giveUp);
        events().lost();
    }

    private StoreEvents events() {
        return Objects.requireNonNull(events);
    }

    /**
     * The layer has returned the permits. The deletion of the nodes ends the membership, since the session of the
     * client goes on.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        Link link = session.link();
        List<CompletableFuture<Void>> deletions = new ArrayList<>(ownNodes.values().stream()
                .flatMap(own -> deleteAll(own, link).stream())
                .toList());
        if (link != null) {
            deletions.add(nodes.deleteIfThere(link.zk(), names.ownPath()));
        }
        await(CompletableFuture.allOf(deletions.toArray(CompletableFuture<?>[]::new)));
        session.end();
        scheduler.shutdownNow();
        ownNodes.clear();
    }

    /** Deletes the member's nodes of a key. What cannot be deleted now is deleted later, or ends with the session. */
    private List<CompletableFuture<Void>> deleteAll(OwnNode own, @Nullable Link link) {
        List<CompletableFuture<Void>> deletions = new ArrayList<>();
        for (String path : own.expectDeletionOfAll()) {
            CompletableFuture<Void> deletion = link == null
                    ? CompletableFuture.failedFuture(sessionEnded())
                    : nodes.deleteIfThere(link.zk(), path);
            deletions.add(deletion.exceptionally(e -> deleteSomeTime(path)));
            if (link != null) {
                own.unwatch(link.zk(), path);
            }
        }
        return deletions;
    }

    /** A failure leaves the node to the end of the session. */
    private @Nullable Void deleteSomeTime(String path) {
        try {
            nodes.deleteSomeTime(path);
        } catch (Exception e) {
            LOG.log(System.Logger.Level.DEBUG, "The node vanishes with its session", e);
        }
        return null;
    }

    /** An interrupt ends the wait, and the deletions go on without it. */
    private static void await(CompletableFuture<Void> deletions) {
        try {
            deletions.get(FAREWELL_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.log(System.Logger.Level.DEBUG, "What is left vanishes with the session", e);
        }
    }
}
