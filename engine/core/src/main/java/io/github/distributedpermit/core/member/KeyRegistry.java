package io.github.distributedpermit.core.member;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.key.Admission;
import io.github.distributedpermit.core.key.Grant;
import io.github.distributedpermit.core.key.KeyQueue;
import io.github.distributedpermit.core.key.KeyQueueHost;
import io.github.distributedpermit.core.key.LossCause;
import io.github.distributedpermit.core.key.PauseState;
import io.github.distributedpermit.core.key.PermitName;
import io.github.distributedpermit.core.key.Policy;
import io.github.distributedpermit.core.key.Repairs;
import io.github.distributedpermit.core.key.SentClaim;
import io.github.distributedpermit.core.key.UnlimitedGrants;
import io.github.distributedpermit.core.store.StoreLog;
import io.github.distributedpermit.core.store.StoreProbe;
import io.github.distributedpermit.core.store.StoreWatch;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Expired;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
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

/**
 * The queues of this process, one per key in use, and the one membership of the store that they share. It creates a queue for
 * the first call of a key, passes what the store sends to the queue it is for, and is the {@link KeyQueueHost} of all queues.
 * Thread-safe: the map is concurrent, and each queue has its own lock.
 */
public final class KeyRegistry implements KeyQueue.Owner, HoldingListener, Iterable<KeyQueue> {

    /** The key that health checks use. */
    public static final String HEALTH_KEY = "distributed-permit.probe";

    /** A loss of state that several keys report within this time is one loss. */
    private static final long BETWEEN_RECLAIMS = TimeUnit.SECONDS.toNanos(1);

    private final ConcurrentMap<String, KeyQueue> queues = new ConcurrentHashMap<>();
    private final AtomicLong sequence = new AtomicLong();
    private final CoreEnvironment environment;
    private final CoreSettings settings;
    private final Runnable progress;
    private final long origin;
    private final PermitStore store;
    private final SessionWatch session;
    private final StoreWatch watch;
    private final Repairs repairs;
    private final StoreLog log;
    private final StoreProbe probe;
    private final int highestLimit;
    private final Instances instances;
    private final KeySurvey survey;
    private final KeyOperations operations;

    private final UnlimitedGrants unlimitedGrants = new UnlimitedGrants(this);
    private final LostCalls lostCalls = new LostCalls();
    private final AtomicLong lostSessions = new AtomicLong();
    private final AtomicLong changes = new AtomicLong();
    private final AtomicLong reclaimedAt = new AtomicLong(-BETWEEN_RECLAIMS);

    private volatile Admission admission = Admission.ALL;
    private volatile boolean closed;

    public KeyRegistry(
            PermitBackend backend,
            Member member,
            CoreSettings settings,
            CoreEnvironment environment,
            Runnable progress) {
        this.environment = environment;
        this.progress = progress;
        this.settings = settings;
        this.origin = environment.ticker().getAsLong();
        this.session = new SessionWatch(environment.scheduler(), this::now, this::checkAll);
        this.repairs = new Repairs(environment.scheduler(), this::now, this::checkAll);
        this.log = new StoreLog(backend.name(), backend.address(), environment.observers()::each);
        long commandTimeout = settings.commandTimeout().toNanos();
        this.highestLimit = Math.min(PermitDefinition.MAX_LIMIT, backend.highestLimit());
        this.watch = new StoreWatch(commandTimeout, log, this::askStore);
        this.probe = new StoreProbe(
                watch,
                wanted -> claim(StoreProbe.KEY, highestLimit, wanted),
                environment.scheduler(),
                this::now,
                commandTimeout,
                this::outageEnded);
        this.survey = new KeySurvey(this);
        this.instances = new Instances(member.id(), this, this::store, highestLimit, settings);
        this.operations = new KeyOperations(
                member, queues, lostCalls, this, this::store, settings, environment, this::each, this::applyChanges);
        this.store = backend.join(member, this);
        store.session().ifPresent(session::begin);
    }

    /** The queue of the key, a new one if need be; {@code null} if as many keys as allowed are in use. */
    @Nullable
    public KeyQueue queue(String key, Policy policy) {
        KeyQueue queue = queues.get(key);
        if (queue != null) {
            return queue;
        }
        if (queues.size() >= settings.maxKeys()) {
            return null;
        }
        return queues.computeIfAbsent(key, absent -> newQueue(absent, ofSession(policy), false));
    }

    /** The queue of the key; {@code null} if the key is not in use. */
    @Nullable
    public KeyQueue find(String key) {
        return queues.get(key);
    }

    /** The highest limit that a key may have in this store. */
    public int highestLimit() {
        return highestLimit;
    }

    private Policy ofSession(Policy policy) {
        return store.session()
                .map(session -> policy.withLease(session.toNanos()))
                .orElse(policy);
    }

    private KeyQueue newQueue(String key, Policy policy, boolean unused) {
        return policy.isUnlimited()
                ? new KeyQueue(key, Policy.ofUnusedKey(settings), true, this)
                : new KeyQueue(key, policy, unused, this);
    }

    /** Settings of names or pauses have changed: the queues of keys in use apply that. */
    public void applyChanges() {
        changes.incrementAndGet();
        each(KeyQueue::check);
    }

    @Override
    public long changes() {
        return changes.get();
    }

    @Override
    public UnlimitedGrants unlimitedGrants() {
        return unlimitedGrants;
    }

    /** Has this instance counted by others, and others counted here, for the shares of a limit during an outage. */
    public void countInstances() {
        instances.start();
    }

    @Override
    public int localShare(String key, int limit) {
        return instances.share(key, limit);
    }

    @Override
    public void ranWithoutStore(PermitName permit, OnStoreFailure how, int share, int limit) {
        String terms = how == OnStoreFailure.LOCAL
                ? "this instance grants %d of the %d permits of a key, its share among %d instance(s)"
                        .formatted(share, limit, instances.count())
                : "all of them run, and no limit is kept";
        log.ran(permit.observedName(), permit.counts::withoutStore, how, terms, watch.bypassed(now()), size());
    }

    /** The store is used again. */
    private void outageEnded(long nanos) {
        each(KeyQueue::check);
        log.usedAgain(nanos);
    }

    private void askStore() {
        probe.begin();
    }

    /** Sends a claim that belongs to no queue. */
    private CompletionStage<Holding> claim(String key, int limit, int wanted) {
        return store.claim(
                Claim.of(key, nextSequence(), settings.lease()).limit(limit).wanted(wanted));
    }

    private PermitStore store() {
        return store;
    }

    /** What operators read and order. */
    public KeyOperations operations() {
        return operations;
    }

    @Override
    public boolean noteLimit(String key, int limit, int stated) {
        return operations.overrides.noteLimit(key, limit, stated);
    }

    @Override
    public int limitInForce(String key, int own) {
        return operations.overrides.inForce(key, own);
    }

    @Override
    public void limitChanged(String key) {
        operations.overrides.look(key);
    }

    @Override
    public PauseState pause(PermitName permit) {
        return operations.pauses.of(permit.name(), permit.observedName());
    }

    @Override
    public void findPause(PermitName permit) {
        operations.pauses.find(permit.name(), permit.observedName());
    }

    /** Sends a claim that asks for nothing, for health. */
    public CompletionStage<Holding> checkHealth() {
        long sentAt = now();
        CompletionStage<Holding> answer = claim(HEALTH_KEY, 1, 0);
        answer.whenComplete((holding, failure) -> watch.checked(failure, sentAt, now()));
        return answer;
    }

    @Override
    public Iterator<KeyQueue> iterator() {
        return queues.values().iterator();
    }

    /** What gauges show of all keys. */
    public KeySurvey survey() {
        return survey;
    }

    /** Whether calls hold permits. */
    boolean isInUse() {
        return unlimitedGrants.isInUse() || queues.values().stream().anyMatch(KeyQueue::isInUse);
    }

    /** The calls that run without their permits. */
    LostCalls lostCalls() {
        return lostCalls;
    }

    /** As {@link StoreLog#graceLeft}. */
    Optional<Duration> graceLeft() {
        return log.graceLeft(now());
    }

    /** How many permits calls of this process have lost. */
    long lostPermits() {
        return log.lostPermits();
    }

    public int size() {
        return queues.size();
    }

    @Override
    public Admission admission() {
        return admission;
    }

    /** Admits only such calls from now on, and rejects those that wait. Has no effect if no more than these are admitted already. */
    void admit(Admission fewer) {
        synchronized (this) {
            if (admission.compareTo(fewer) >= 0) {
                return;
            }
            admission = fewer;
        }
        // a call that has read the old value has its lock until it is in its queue, so that the following line finds it
        each(KeyQueue::check);
        if (fewer == Admission.NONE) {
            instances.close();
        }
    }

    /**
     * Leaves the store: no renewals and repetitions any more. Calls that still run keep what their leases cover. In a store that
     * ends a member's permits when it leaves, they lose them first, since others may get them at once.
     */
    public void leave() {
        closed = true;
        operations.close();
        instances.close();
        probe.close();
        session.end();
        if (store.endsPermitsOnClose()) {
            lost();
        }
        each(KeyQueue::abandon);
        log.moreLost(now());
        store.close();
    }

    @Override
    public long now() {
        return environment.ticker().getAsLong() - origin;
    }

    @Override
    public long time(long tickerNanos) {
        return tickerNanos - origin;
    }

    @Override
    public StoreWatch watch() {
        return watch;
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
        try {
            instances.resume();
        } catch (RuntimeException | Error e) {
            // the next claim tries again
        }
        CompletionStage<Holding> answer;
        try {
            answer = store.claim(claim);
        } catch (VirtualMachineError e) {
            throw e; // not the store's fault: it is sent again with more room, and has one effect if it arrives twice
        } catch (RuntimeException | Error e) {
            sent.accept(null, e);
            return;
        }
        sent.follow(answer);
    }

    @Override
    public Scheduler scheduler() {
        return environment.scheduler();
    }

    @Override
    public double jitter() {
        return environment.jitter().getAsDouble();
    }

    @Override
    public void retired(KeyQueue queue) {
        queues.remove(queue.key(), queue);
    }

    @Override
    public void progress() {
        progress.run();
    }

    @Override
    public void callback(Runnable task) {
        environment.callback(task);
    }

    @Override
    public void notice(Runnable task) {
        environment.notice(task);
    }

    @Override
    public void released(Grant grant) {
        lostCalls.ended(grant);
        if (environment.observers().followCalls()) {
            Duration held = Duration.ofNanos(now() - grant.grantedAt);
            environment.observers().each(each -> each.released(grant, held));
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
            // the queue repeats the return until the store confirms it; the call need not wait for that
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void lost(Grant grant) {
        lostCalls.lost(grant, now());
        environment.observers().each(each -> each.lost(grant));
    }

    @Override
    public void logLosses(List<Grant> grants) {
        LossCause cause = grants.get(0).lossCause();
        String why = closed || cause == null ? "this instance has left the store" : cause.text();
        List<Caller> callers = grants.stream()
                .flatMap(grant -> Optional.ofNullable(grant.caller).stream())
                .toList();
        if (log.lost(grants, why, callers, now())) {
            environment.scheduler().schedule(() -> log.moreLost(now()), StoreLog.INTERVAL);
        }
    }

    @Override
    public boolean isObserved() {
        return environment.observers().areOfApplication();
    }

    @Override
    public void claimed(boolean answered, long took) {
        Duration time = Duration.ofNanos(Math.max(0, took));
        environment.observers().each(each -> each.claimed(answered, time));
    }

    @Override
    public boolean trouble(KeyQueue queue, Throwable cause) {
        return repairs.trouble(queue, cause);
    }

    /** Looks at all queues if an error cut an event short and the scheduler could take no task for that queue. */
    public void repair() {
        repairs.repair();
    }

    @Override
    public void granted(String key, Holding holding) {
        KeyQueue queue = queues.get(key);
        if (queue == null && holding.permits() > 0 && !closed) {
            // granted to a call that has given up long ago: a queue without calls gives it back
            queue = queues.computeIfAbsent(key, absent -> newQueue(absent, Policy.ofUnusedKey(settings), true));
        }
        if (queue != null) {
            queue.pushed(holding);
        }
    }

    @Override
    public void changed(String key) {
        KeyQueue queue = queues.get(key);
        if (queue != null) {
            queue.changed();
        }
    }

    @Override
    public void expired(String key, Expired expired) {
        environment.observers().each(each -> each.expired(key, expired));
        log.expired(key, expired, now());
    }

    @Override
    public void reachable() {
        operations.pauses.storeIsReachable();
        each(KeyQueue::reachable);
    }

    /** What prevents this member from working, such as missing notifications or answers; empty if all is well. For health. */
    public Optional<String> problem() {
        return store.problem().or(() -> survey.overdue(settings.commandTimeout()));
    }

    /** See {@link PermitStore#warning}. */
    public Optional<String> warning() {
        return store.warning();
    }

    @Override
    public void stateLost() {
        long now = now();
        long last = reclaimedAt.get();
        if (now - last >= BETWEEN_RECLAIMS && reclaimedAt.compareAndSet(last, now)) {
            each(KeyQueue::reclaim);
        }
    }

    @Override
    public void graceBegins(String key, boolean moved, long lasts) {
        checkGraceAfter(log.graceBegins(key, moved, lasts, now()));
    }

    private void checkGraceAfter(long nanos) {
        if (nanos > 0 && !closed) {
            environment.scheduler().schedule(() -> checkGraceAfter(log.graceMayEnd(survey.inGrace(), now())), nanos);
        }
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
            // Each queue compares this count, so that it can't miss the loss if an error strikes here. It is raised
            // after
            // the validity has ended: a queue that sees the new count applies no answer of the old session.
            lostSessions.incrementAndGet();
            each(KeyQueue::check);
        }
    }

    private void checkAll() {
        each(KeyQueue::checkNeglected);
    }

    /** Does this with every queue. What it throws for one of them does not stop the others. */
    void each(Consumer<KeyQueue> action) {
        for (KeyQueue queue : queues.values()) {
            try {
                action.accept(queue);
            } catch (RuntimeException | Error e) {
                trouble(queue, e);
            }
        }
    }
}
