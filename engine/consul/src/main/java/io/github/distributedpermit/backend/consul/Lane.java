package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.backend.consul.Work.Claiming;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One key as one member uses it: one attempt, and so one transaction, at a time. Confined to the loop. */
final class Lane {

    private static final System.Logger LOG = System.getLogger(Lane.class.getName());

    private final KeyNames names;
    private final HoldingListener listener;
    private final Deque<Work> queue = new ArrayDeque<>();
    private final Places places = new Places();
    private final Host host;

    private Versions versions = new Versions();
    private @Nullable Board board;
    private @Nullable Attempt running;
    private @Nullable Entry unread;
    private @Nullable Session last;
    private long sequence = -1;
    private boolean mayHaveMail;

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
    boolean begin(long claimed) {
        boolean isNew = claimed > sequence;
        sequence = Math.max(sequence, claimed);
        return isNew;
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
            Notice read = Notice.of(notice.value());
            board = null;
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
