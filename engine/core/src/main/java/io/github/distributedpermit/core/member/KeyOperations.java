package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.key.KeyQueue;
import io.github.distributedpermit.core.key.KeyQueueHost;
import io.github.distributedpermit.core.key.PauseState;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.KeyList;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What operators read and order, of keys in the store and of calls of this process. Thread-safe. */
public final class KeyOperations {

    /** How often it is tried to announce a pause. */
    private static final int ANNOUNCEMENTS = 30;

    final Overrides overrides;
    final Pauses pauses;
    private final StatedLimits statedLimits;
    private final ConcurrentMap<String, KeyQueue> queues;
    private final LostCalls lostCalls;
    private final KeyQueueHost host;
    private final Supplier<PermitStore> store;
    private final CoreEnvironment environment;
    private final Consumer<Consumer<KeyQueue>> each;
    private final long commandTimeout;
    private final Member member;
    private volatile boolean closed;

    /**
     * @param store is asked for the store once it has been joined
     * @param each does this with every queue, whatever is thrown for one of them
     * @param pausesChanged called without a lock after the pause of some name has changed
     */
    KeyOperations(
            Member member,
            ConcurrentMap<String, KeyQueue> queues,
            LostCalls lostCalls,
            KeyQueueHost host,
            Supplier<PermitStore> store,
            CoreSettings settings,
            CoreEnvironment environment,
            Consumer<Consumer<KeyQueue>> each,
            Runnable pausesChanged) {
        this.member = member;
        this.queues = queues;
        this.lostCalls = lostCalls;
        this.host = host;
        this.store = store;
        this.environment = environment;
        this.each = each;
        this.commandTimeout = settings.commandTimeout().toNanos();
        this.overrides = new Overrides(
                environment.scheduler(), System::currentTimeMillis, this::inspect, this::lift, this::limitSet);
        this.statedLimits = new StatedLimits(
                member, (key, limits) -> environment.observers().each(to -> to.limitsDiffer(key, limits)));
        this.pauses = new Pauses(
                environment.scheduler(),
                host::now,
                settings.lease().toNanos() / 3,
                commandTimeout,
                key -> key.equals(Pause.CHANGES) ? store.get().inspect(key) : inspect(key),
                this::names,
                pausesChanged);
    }

    /** The state of the key in the store, without permits that are idle here only because this member is alone. */
    public CompletionStage<KeyState> inspect(String key) {
        KeyQueue queue = queues.get(key);
        if (queue != null && host.isAlone()) {
            queue.recall();
        }
        CompletionStage<KeyState> state = store.get().inspect(key);
        return state.thenApply(read -> {
            overrides.note(read);
            if (queue != null) {
                queue.statedLimit()
                        .ifPresent(own -> queue.observedNames().stream()
                                .sorted()
                                .findFirst()
                                .ifPresent(name -> statedLimits.note(name, read, own, host.now())));
            }
            return read;
        });
    }

    private void limitSet(String key, OverrideLimit limit) {
        pauses.limitChanged(key);
        environment.observers().each(each -> each.limitSet(key, limit));
    }

    /** From now on calls obey the pauses of names and of this application, see {@link Pause}. */
    public void obeyPauses(String application) {
        pauses.obey(application);
        pauses.lookNow(); // so that the first call need not wait for that
    }

    /** Whether an operator has paused all calls of the name or pattern, or of the application, as far as this instance knows. */
    public boolean isPaused(String name) {
        return pauses.of(name, name) == PauseState.PAUSED;
    }

    /** The keys of {@link Pause} that may pause calls of a name with settings of this pattern. */
    public Set<String> pauses(String name, String pattern) {
        return pauses.possible(name, pattern);
    }

    /** Sets or ends a {@link Pause}, and has all instances look for it. */
    public CompletionStage<Void> pause(String pause, OverrideLimit limit, Duration lasts) {
        // Before the pause is set, since this instance may not live to do it afterwards; and then again, since one that
        // looks in between would not look a second time.
        announce(new CompletableFuture<>(), null, 1);
        CompletableFuture<Void> done = new CompletableFuture<>();
        override(pause, limit, lasts).whenComplete((set, failure) -> {
            announce(done, failure, ANNOUNCEMENTS);
            if (failure != null) { // it may be set later
                environment
                        .scheduler()
                        .schedule(
                                () -> announce(new CompletableFuture<>(), failure, ANNOUNCEMENTS), 2 * commandTimeout);
            }
        });
        return done;
    }

    /** Whatever has become of the pause: one that were set without that would come into force with the next change of another one. */
    private void announce(CompletableFuture<Void> done, @Nullable Throwable failure, int attempts) {
        OverrideLimit change = OverrideLimit.of(1, member.id(), Long.toString(host.nextSequence()))
                .during(System.currentTimeMillis(), 0);
        store.get().override(Pause.CHANGES, change).whenComplete((set, unannounced) -> {
            Throwable cause = failure == null ? unannounced : failure;
            if (cause == null) {
                pauses.lookNow();
                done.complete(null);
            } else {
                done.completeExceptionally(cause);
            }
            if (unannounced != null && attempts > 1 && !closed) {
                environment.scheduler().schedule(() -> announce(done, failure, attempts - 1), commandTimeout);
            }
        });
    }

    private Set<String> names() {
        Set<String> names = new HashSet<>();
        each.accept(queue -> {
            names.addAll(queue.names());
            names.addAll(queue.observedNames());
        });
        return names;
    }

    /** Sets or lifts the operator's limit of a key; zero for a limit that does not end by itself. One that was set already keeps its time. */
    public CompletionStage<Void> override(String key, OverrideLimit limit, Duration lasts) {
        CompletionStage<Void> done = limit.isEmpty()
                ? store.get().override(key, limit)
                : store.get().inspect(key).thenCompose(state -> {
                    long now = overrides.now(state);
                    long end = lasts.isZero() ? 0 : now + lasts.toMillis();
                    return store.get().override(key, limit.during(limit.since() == 0 ? now : limit.since(), end));
                });
        return done.thenApply(set -> {
            checkAfterOverride(key);
            overrides.look(key);
            return set;
        });
    }

    private CompletionStage<Void> lift(String key, OverrideLimit ended) {
        return store.get().lift(key, ended).thenApply(lifted -> {
            checkAfterOverride(key);
            return lifted;
        });
    }

    private void checkAfterOverride(String key) {
        KeyQueue queue = queues.get(key);
        if (queue != null && host.isAlone()) {
            queue.recall();
            queue.changed(); // there is no other member whose claim would make the store notify this one
        }
    }

    /** Some keys of calls that the store has, whatever instances use them. */
    public CompletionStage<KeyList> keysInStore(int most) {
        return store.get().keys(most).thenApply(KeyList::ofCalls);
    }

    /** The keys of which calls of this name run or wait here, in no particular order. */
    public Set<String> keys(String name) {
        Set<String> keys = new HashSet<>();
        lostCalls.keys(name, keys);
        queues.forEach((key, queue) -> {
            if (queue.names().contains(name)) {
                keys.add(key);
            }
        });
        return keys;
    }

    /** The calls of a key that run or wait here, those that run without their permits first, then those that hold; at most so many. */
    public List<CallView> calls(String key, int most) {
        List<CallView> views = new ArrayList<>();
        lostCalls.describe(key, host.now(), most, views);
        KeyQueue queue = queues.get(key);
        if (queue != null) {
            queue.describe(most, views);
        }
        return views;
    }

    /** Takes all permits of a key from a member, by order of an operator; see {@link PermitStore#evict}. */
    public CompletionStage<Integer> evict(String key, String member) {
        return store.get().evict(key, member);
    }

    /** Takes the permits of one call of this process, by order of an operator; returns how many. */
    public int take(String key, long call) {
        KeyQueue queue = queues.get(key);
        return queue == null ? 0 : queue.revoke(call);
    }

    void close() {
        closed = true;
        overrides.close();
        pauses.close();
    }
}
