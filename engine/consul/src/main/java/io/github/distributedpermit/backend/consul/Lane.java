package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.backend.consul.Work.Checking;
import io.github.distributedpermit.backend.consul.Work.Claiming;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One key as one member uses it: one attempt, and so one transaction, at a time. Confined to the loop. */
final class Lane {

    private static final System.Logger LOG = System.getLogger(Lane.class.getName());

    private final KeyNames names;
    private final HoldingListener listener;
    private final Deque<Work> queue = new ArrayDeque<>();
    private final Places places = new Places();
    private final RecordedPermits recorded = new RecordedPermits();
    private final Host host;

    private Versions versions = new Versions();
    private @Nullable Board board;
    private @Nullable Attempt running;
    private @Nullable Entry unread;
    private @Nullable Session last;
    private long sequence = -1;
    /** The sequence that the core has last received with an answer or a notice. */
    private long delivered = -1;
    /** Of the last claim. */
    private int limit;

    private boolean mayHaveMail;
    private boolean willCheck;

    /** What lanes share. */
    interface Host {

        Membership membership();

        Spares spares();

        ConsulApi api();

        KeyLayout layout();

        Loop loop();

        String member();

        ConsulSettings settings();

        /** Different each time. */
        String nonce();

        /** The lane has nothing to do any more; it may hold or wait all the same. */
        void rested(Lane lane);
    }

    Lane(KeyNames names, HoldingListener listener, Host host) {
        this.names = names;
        this.listener = listener;
        this.host = host;
        this.board = host.layout().assumedIdle(names);
    }

    KeyNames names() {
        return names;
    }

    Host host() {
        return host;
    }

    Versions versions() {
        return versions;
    }

    Places places() {
        return places;
    }

    /** What Consul must have recorded for the member. */
    RecordedPermits recorded() {
        return recorded;
    }

    /** What the member last saw of the key; nothing if that is known to be out of date. */
    @Nullable
    Board board() {
        return board;
    }

    void board(@Nullable Board seen) {
        board = seen;
    }

    boolean mayHaveMail() {
        return mayHaveMail;
    }

    void mayHaveMail(boolean may) {
        mayHaveMail = may;
    }

    /** The highest sequence of a claim that has been looked at. */
    long sequence() {
        return sequence;
    }

    /** Whether the claim is not late. */
    boolean begin(Claim claim) {
        boolean isNew = claim.sequence() > sequence;
        if (isNew) {
            sequence = claim.sequence();
            limit = claim.limit();
            recorded.claims(claim.held(), claim.wanted());
        }
        return isNew;
    }

    /** The core is about to receive an answer of the highest sequence. */
    void answers() {
        delivered = sequence;
    }

    /** Reads the key when its turn comes, since a permit that the member holds may be gone. */
    void check() {
        if (!willCheck) {
            willCheck = true;
            add(new Checking());
        }
    }

    /**
     * Permits that the member held are not in Consul any more. The core receives this as a notice of its own: an answer
     * that also grants new permits would hide it.
     */
    void lost(Session session, Board seen, int missing) {
        int left = recorded.count() - missing;
        LOG.log(
                System.Logger.Level.WARNING,
                "Consul has no record any more of %d of the permits that this member held of key '%s': keys under %s were deleted or changed from outside. The calls that hold them are notified of the loss"
                        .formatted(missing, names.encoded(), names.tree()));
        recorded.seen(seen.permitNames(session.id()), left);
        int effective = seen.override().orElse(limit);
        Holding holding = new Holding(
                left,
                effective,
                delivered,
                versions.answer(seen, session.id(), false),
                seen.othersWait(session.id()),
                seen.used() > effective,
                Optional.empty());
        listener.granted(names.key(), holding);
        listener.changed(names.key());
    }

    /** Whether neither Consul nor the core knows anything of the member and this key. */
    boolean isIdle() {
        if (!isAtRest()) {
            return false;
        }
        Session session = host.membership().current();
        Board seen = board;
        return session == null || session != last || (seen != null && seen.isWithout(session.id()));
    }

    /** Which sessions besides the first are in use for this key; nothing if that is not known right now. */
    Optional<Set<String>> sessions(Session session) {
        if (isIdle()) {
            return Optional.of(Set.of());
        }
        Board seen = board;
        return seen == null || !isAtRest() || last != session
                ? Optional.empty()
                : Optional.of(seen.sessions(session.id()));
    }

    /** Whether nobody waits for anything here. */
    boolean isAtRest() {
        return running == null && queue.isEmpty();
    }

    /** A transaction for this key is sent in this session. */
    void sends(Session session) {
        last = session;
    }

    void add(Work work) {
        queue.add(work);
        if (running == null) {
            next();
        }
    }

    private void next() {
        Work work = queue.poll();
        if (work == null) {
            deliver();
            host.rested(this);
            return;
        }
        while (work instanceof Claiming claiming && queue.peek() instanceof Claiming following) {
            queue.remove();
            work = claiming.merge(following, sequence);
        }
        if (work instanceof Checking) {
            willCheck = false;
        }
        Attempt attempt = new Attempt(this, work);
        running = attempt;
        attempt.begin();
    }

    /** The attempt has told those who wait for it; also called by an attempt that the lane has given up. */
    void ended(Attempt attempt) {
        if (running == attempt) {
            running = null;
            next();
        }
    }

    /** A notice for this key. While an attempt runs, its answer may say more. */
    void told(Entry notice) {
        unread = notice;
        if (running == null) {
            deliver();
        }
    }

    private void deliver() {
        Entry notice = unread;
        unread = null;
        if (notice == null || !versions.isNews(notice.modified())) {
            return;
        }
        try {
            Notice read = Notice.of(notice.value()).orElse(null);
            if (read == null) {
                listener.changed(names.key()); // the next claim says whether this version can use the key at all
                return;
            }
            board = null;
            recorded.granted(read.permits());
            delivered = sequence;
            listener.granted(names.key(), read.holding(sequence, versions.notice(notice.modified(), read.slot())));
        } catch (MalformedJsonException e) {
            LOG.log(System.Logger.Level.WARNING, "A notice in Consul is damaged: " + notice.key(), e);
            listener.changed(names.key());
        }
    }

    /** The session is lost, and all this lane knew with it. */
    void reset() {
        board = null;
        unread = null;
        mayHaveMail = false;
        recorded.forget();
        places.forget();
        // a Consul that has lost its state counts from the start: indexes from before would meet those of other members
        versions = new Versions();
    }

    /** The member leaves. */
    void fail(PermitStoreException failure) {
        List<Work> all = List.copyOf(queue);
        queue.clear();
        Attempt attempt = running;
        running = null;
        if (attempt != null) {
            attempt.fail(failure);
        }
        all.forEach(work -> work.fail(failure));
    }
}
