package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.snapshot.StoreEvents;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a member has to remember of a key in which it holds or waits, in one session: the permits that Consul must have
 * recorded, the last tree, and a notice that arrived while a request was under way. The layer has at most one request of a
 * key under way. Confined to the event loop.
 *
 * <p>{@link KeyReader} and {@link KeyCommitter} report to it what their requests have received; it reports notices and missing
 * permits to the layer through {@link StoreEvents}.
 */
final class KeyUse {

    private static final System.Logger LOG = System.getLogger(KeyUse.class.getName());

    private final KeyNames names;
    private final StoreEvents events;
    /** What Consul must have recorded for this member. */
    private final RecordedPermits recorded = new RecordedPermits();

    /** See {@link #sessions()}. */
    private Set<String> sessions = Set.of();

    /** The last tree; {@code null} after a notice or a failure, because it may be out of date. */
    private @Nullable KeyTree latest;
    /**
     * A notice that arrived while a request was under way. It has to wait: the answer may show the key as it was before the
     * grant, and would then seem to lack permits that the notice has added.
     */
    private @Nullable KeyValue notice;
    /** The highest index of a change of the key that an answer or a notice included. A notice below it is out of date. */
    private long seen;
    /** A request is under way, whose answer may include what a notice says. */
    private boolean busy;
    /** The next read has to be consistent. */
    private boolean checkDue;
    /** The inbox may contain an entry for this key, which has to be deleted when the member leaves the key. */
    private boolean mayHaveNotice;

    KeyUse(KeyNames names, StoreEvents events) {
        this.names = names;
        this.events = events;
    }

    KeyNames names() {
        return names;
    }

    RecordedPermits recorded() {
        return recorded;
    }

    /**
     * The last tree, unless it may be out of date or a request is under way, which may be changing the key. {@link
     * RecordedPermitsCheck} relies on it.
     */
    @Nullable
    KeyTree latest() {
        return busy ? null : latest;
    }

    /**
     * The last tree, for a request of the key itself, if the member waits for a return of others according to it; {@code null} if
     * the tree may be out of date.
     */
    @Nullable
    KeyTree waitingTree(Session session) {
        KeyTree tree = latest;
        return tree != null && tree.waitsForAReturn(session.id()) ? tree : null;
    }

    /**
     * The additional sessions that the key may use: those of the last tree that was received, whatever may have changed since, and
     * those of a change that has begun since. Other members give permits only to sessions that this member has named here.
     */
    Set<String> sessions() {
        return sessions;
    }

    /** A change is about to be sent, after which the key may use these sessions too; whether it is made may stay unknown. */
    void mayUse(Set<String> more) {
        sessions = Stream.concat(sessions.stream(), more.stream()).collect(Collectors.toSet());
    }

    boolean isBusy() {
        return busy;
    }

    /** A request begins. Notices that arrive before it has ended are held back. */
    void begin() {
        busy = true;
    }

    /**
     * A request has ended. Delivers what arrived meanwhile. A notice of a session that was lost meanwhile is dropped
     * together with its grant.
     *
     * @param sameSession whether it ended in the session in which it began
     */
    void end(boolean sameSession) {
        busy = false;
        KeyValue unread = notice;
        notice = null;
        if (unread != null && sameSession) {
            deliver(unread);
        }
    }

    /** Whether the inbox may contain a notice for this key. */
    boolean mayHaveNotice() {
        return mayHaveNotice;
    }

    void mayHaveNotice(boolean may) {
        mayHaveNotice = may;
    }

    /** Has the key read, consistently, because permits of this member may have been deleted from outside. */
    void check() {
        checkDue = true;
        events.check(names.key());
    }

    /**
     * Whether the next read has to be consistent; once. If that read fails the check is lost; the next round of
     * {@link RecordedPermitsCheck} repeats it.
     */
    boolean takeCheck() {
        boolean due = checkDue;
        checkDue = false;
        return due;
    }

    /** Whether a tree has the permits that are expected of it; otherwise it may be older than the member's own changes. */
    boolean isExpected(Session session, KeyTree tree) {
        return recorded.isExpected(tree.permitNames(session.id()));
    }

    /**
     * The key was read, or changed by this member. If permits are missing, the core receives this as a notice of its own:
     * an answer that also grants new permits would hide it.
     */
    ConsulSnapshot received(Session session, KeyTree tree, boolean own) {
        Set<String> permits = tree.permitNames(session.id());
        int missing = recorded.missing(permits);
        // What the core may still rely on: permits that are new in this tree belong to the answer.
        int left = recorded.count() - missing;
        recorded.seen(permits);
        latest = tree;
        sessions = tree.sessions(session.id());
        seen = Math.max(seen, tree.index());
        if (missing > 0) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Consul has no record any more of %d of the permits that this member held of key '%s': keys under %s were deleted or changed from outside. The calls that hold them are notified of the loss"
                            .formatted(missing, names.encoded(), names.tree()));
            // Before the answer of the request that has read the tree, so that the core receives the loss first.
            events.reduced(names.key(), left);
        }
        return new ConsulSnapshot(tree, seen, own);
    }

    /** A request failed, or another member has changed the key. */
    void outdated() {
        latest = null;
    }

    /**
     * Whether nothing has to be remembered. Otherwise the use stays: a notice for a key without a use would be
     * dropped.
     */
    boolean isUnused(Session session) {
        KeyTree tree = latest;
        return !busy
                && notice == null
                && !mayHaveNotice
                && !checkDue
                && tree != null
                && tree.isWithout(session.id())
                && recorded.count() == 0;
    }

    /**
     * Another member has begun to wait, so that a change which rests on an earlier snapshot would fail.
     *
     * @param index at which the notice was written; below what was seen, the last tree contains the waiting member
     */
    void contended(long index) {
        if (index > seen) {
            events.outdated(names.key());
        }
    }

    /** A notice has arrived. While a request is under way, its answer may already include the grant. */
    void notified(KeyValue arrived) {
        if (busy) {
            notice = arrived;
        } else {
            deliver(arrived);
        }
    }

    /** A notice was deleted before it was read. The next claim reads the key. */
    void unread() {
        latest = null;
        events.changed(names.key());
    }

    /** Passes a notice on to the layer, unless an answer has included the grant. Notices have no sequence: -1. */
    private void deliver(KeyValue arrived) {
        if (arrived.modified() <= seen) {
            return; // an answer included the grant, which may have been returned since
        }
        GrantNotice read = GrantNotice.of(arrived).orElse(null);
        if (read == null) {
            events.changed(names.key()); // the next claim says whether this version can use the key at all
            return;
        }
        latest = null;
        seen = arrived.modified();
        // From now on Consul must have these permits, so that a read that lacks them shows a loss.
        recorded.granted(read.permits());
        events.served(names.key(), read.holding(-1, GrantVersion.ofNotice(seen, read.slot())));
    }
}
