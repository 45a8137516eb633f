package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.Iterator;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The lines of this process, one per key in use, and their one membership of the store. Thread-safe. */
final class Lines implements LineHost, HoldingListener, Iterable<KeyLine> {

    static final String PROBE = "distributed-permit.probe";

    private final ConcurrentMap<String, KeyLine> lines = new ConcurrentHashMap<>();
    private final AtomicLong sequence = new AtomicLong();
    private final Surroundings surroundings;
    private final CoreSettings settings;
    private final Runnable progress;
    private final long origin;
    private final PermitStore store;
    private final SessionWatch session;
    private final StoreContact contact;
    private final Repairs repairs;

    private final AtomicLong lostSessions = new AtomicLong();

    private volatile boolean closing;
    private volatile boolean closed;

    Lines(PermitBackend backend, Member member, CoreSettings settings, Surroundings surroundings, Runnable progress) {
        this.surroundings = surroundings;
        this.progress = progress;
        this.settings = settings;
        this.origin = surroundings.ticker().getAsLong();
        this.session = new SessionWatch(this);
        this.contact = new StoreContact(settings.commandTimeout().toNanos());
        this.repairs = new Repairs(this, surroundings.scheduler());
        this.store = backend.join(member, this);
        store.session().ifPresent(session::begin);
    }

    /** The line of the key; {@code null} if as many keys as allowed are in use. */
    @Nullable
    KeyLine line(String key, Policy policy) {
        KeyLine line = lines.get(key);
        if (line != null) {
            return line;
        }
        if (lines.size() >= settings.maxKeys()) {
            return null;
        }
        boolean open = !closing;
        line = lines.computeIfAbsent(key, absent -> newLine(absent, policy, false));
        if (open && closing) {
            line.close(); // it may have come into being too late to be closed with the others
        }
        return line;
    }

    /** The line of the key, if it is in use. */
    @Nullable
    KeyLine find(String key) {
        return lines.get(key);
    }

    private KeyLine newLine(String key, Policy policy, boolean stray) {
        return new KeyLine(key, policy, stray, closing, this);
    }

    /** Nobody is to see permits in use that merely lie here because nobody else may want them. */
    CompletionStage<KeyState> inspect(String key) {
        KeyLine line = lines.get(key);
        if (line != null && isAlone()) {
            line.recall();
        }
        return store.inspect(key);
    }

    CompletionStage<Void> override(String key, OptionalInt limit) {
        CompletionStage<Void> done = store.override(key, limit);
        KeyLine line = lines.get(key);
        if (line != null && isAlone()) {
            line.recall();
            line.changed(); // nobody else's claim would ever tell it
        }
        return done;
    }

    /** A claim of nothing. */
    CompletionStage<Holding> probe() {
        return store.claim(new Claim(PROBE, 1, nextSequence(), 0, 0, 0, Duration.ZERO, settings.lease(), false));
    }

    @Override
    public Iterator<KeyLine> iterator() {
        return lines.values().iterator();
    }

    /** Present if the store keeps its members alive by a session: its length. */
    Optional<Duration> session() {
        return store.session();
    }

    int size() {
        return lines.size();
    }

    /** No more calls; those in line are rejected. */
    void close() {
        closing = true;
        each(KeyLine::close);
    }

    /** Leaves the store. */
    void leave() {
        closed = true;
        session.end();
        each(KeyLine::abandon);
        store.close();
    }

    @Override
    public long now() {
        return surroundings.ticker().getAsLong() - origin;
    }

    @Override
    public long time(long tickerNanos) {
        return tickerNanos - origin;
    }

    @Override
    public StoreContact contact() {
        return contact;
    }

    @Override
    public long nextSequence() {
        return sequence.incrementAndGet();
    }

    @Override
    public long aliveUntil() {
        return session.aliveUntil();
    }

    @Override
    public long lostSessions() {
        return lostSessions.get();
    }

    @Override
    public boolean isAlone() {
        return !store.isShared();
    }

    @Override
    public void send(Claim claim, SentClaim sent) {
        CompletionStage<Holding> answer;
        try {
            answer = store.claim(claim);
        } catch (RuntimeException | Error e) {
            sent.accept(null, e);
            return;
        }
        sent.follow(answer);
    }

    @Override
    public Scheduler scheduler() {
        return surroundings.scheduler();
    }

    @Override
    public double jitter() {
        return surroundings.jitter().getAsDouble();
    }

    @Override
    public void retired(KeyLine line) {
        lines.remove(line.key(), line);
    }

    @Override
    public void progress() {
        progress.run();
    }

    @Override
    public void callback(Runnable task) {
        surroundings.callback(task);
    }

    @Override
    public void notice(Runnable task) {
        surroundings.notice(task);
    }

    @Override
    public void released(Grant grant) {
        if (surroundings.isObserved()) {
            surroundings.observer().released(grant.name(), Duration.ofNanos(now() - grant.grantedAt));
        }
    }

    @Override
    public void awaitReturn(Future<Void> confirmation) {
        boolean interrupted = false;
        try {
            confirmation.get(settings.commandTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        } catch (ExecutionException | TimeoutException e) {
            // the return is repeated until the store confirms it; the call need not wait longer
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void lost(Grant grant) {
        surroundings.observer().lost(grant.name(), grant.weight);
    }

    @Override
    public void handedOver(NameUse use, int permits) {
        surroundings.observer().handedOver(use.name(), permits);
    }

    @Override
    public void trouble(KeyLine line, Throwable cause) {
        repairs.trouble(line, cause);
    }

    /** Looks at all lines if an error has cut an event short and the scheduler could take no task to look at that line. */
    void repair() {
        repairs.repair();
    }

    @Override
    public void granted(String key, Holding holding) {
        KeyLine line = lines.get(key);
        if (line == null && holding.permits() > 0 && !closed) {
            // granted to a call that has long given up: a line that wants nothing gives it back
            line = lines.computeIfAbsent(key, absent -> newLine(absent, Policy.stray(settings), true));
        }
        if (line != null) {
            line.pushed(holding);
        }
    }

    @Override
    public void changed(String key) {
        KeyLine line = lines.get(key);
        if (line != null) {
            line.changed();
        }
    }

    @Override
    public void reachable() {
        each(KeyLine::reachable);
    }

    /** Why this member can't do its part; empty if all is well. */
    Optional<String> problem() {
        return store.problem();
    }

    @Override
    public void alive(long sentAtNanos) {
        session.alive(time(sentAtNanos));
        repairs.repair();
    }

    @Override
    public void lost() {
        try {
            session.lost();
        } finally {
            // a count that each line compares, so that an error while a line is told cannot make it miss the loss;
            // after
            // the end of the validity, lest a line that sees the loss takes in anything under the old session
            lostSessions.incrementAndGet();
            each(KeyLine::sessionLost);
        }
    }

    /** Does it with every line, whatever it throws for one. */
    void each(Consumer<KeyLine> action) {
        for (KeyLine line : lines.values()) {
            try {
                action.accept(line);
            } catch (RuntimeException | Error e) {
                trouble(line, e);
            }
        }
    }
}
