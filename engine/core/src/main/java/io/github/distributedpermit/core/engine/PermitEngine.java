package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.call.NamedCalls;
import io.github.distributedpermit.core.key.KeyQueue;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.KeyRegistry;
import io.github.distributedpermit.core.member.MemberStatus;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.CallerSource;
import io.github.distributedpermit.spi.KeyList;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitAccess;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.StoreGauges;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The permits of this process: joins the store as one member and has one queue per key in use. After it has left the store it
 * may join again, as another member. The entrance to the core for Spring's side and for tests, which pass in the clock, the
 * scheduler and the executors. Thread-safe.
 */
public final class PermitEngine implements Permits, PermitCatalog, PermitAccess, AutoCloseable {

    private final Catalog catalog;
    private final PermitBackend backend;
    private final Supplier<Member> members;
    private final CoreSettings settings;
    private final CoreEnvironment environment;
    private final MemberStatus status;
    private final NamedCalls.Names names = new Names();
    private final Supplier<NamedCalls.Present> calls = () -> present().calls;

    /** {@code null} before the first join. */
    private volatile @Nullable Membership membership;

    private volatile boolean instancesCounted;
    private volatile @Nullable String application;
    private volatile CallerSource callers = CallerSource.NONE;

    /** Whether the process has left the store. Guarded by this. */
    private boolean left;

    /**
     * Joins the store. Does not block.
     *
     * @param backend the store
     * @param member this process
     * @param settings for all permits
     * @param defaults for what neither the settings of a name nor its declaration give; without effect on the limit and on
     *     whether calls wait
     * @param named settings by permit name
     * @param environment clock, threads, randomness, and the observer of what happens to calls
     */
    public PermitEngine(
            PermitBackend backend,
            Member member,
            CoreSettings settings,
            PermitSettings defaults,
            Map<String, PermitSettings> named,
            CoreEnvironment environment) {
        this(backend, () -> member, settings, defaults, named, environment);
        join();
    }

    /**
     * Joins the store with {@link #join}, or with the first call if that comes before.
     *
     * @param members makes this process a member with an id of its own for each time that it joins
     */
    public PermitEngine(
            PermitBackend backend,
            Supplier<Member> members,
            CoreSettings settings,
            PermitSettings defaults,
            Map<String, PermitSettings> named,
            CoreEnvironment environment) {
        this.backend = backend;
        this.members = members;
        this.settings = settings;
        this.environment = environment;
        catalog = new Catalog(
                Rules.of(settings, defaults, named),
                backend.highestLimit(),
                environment.observers(),
                () -> registry().map(KeyRegistry::survey),
                () -> registry().ifPresent(KeyRegistry::applyChanges),
                this::countInstances);
        status = new MemberStatus(this::registry, backend);
        environment.observers().each(observer -> observer.joined(status));
    }

    /**
     * Joins the store, unless this process is a member that has not begun its shutdown. One that has left, or is about to,
     * becomes another member. Does not block, but for a shutdown that has not ended.
     */
    public synchronized void join() {
        Membership before = membership;
        if (before == null) {
            left = false;
            begin();
        } else if (left || before.isEnding()) {
            if (!left) {
                before.leave();
            }
            left = false;
            begin();
        }
    }

    private void begin() {
        Membership joined = new Membership(backend, members.get(), settings, environment);
        String named = application;
        if (named != null) {
            joined.registry.operations().obeyPauses(named);
        }
        membership = joined;
        // after it is known to other threads, so that what they change meanwhile is not missed
        joined.outcomes.describeCallersBy(callers);
        if (instancesCounted) {
            joined.registry.countInstances();
        }
    }

    private Membership present() {
        Membership joined = membership;
        return joined != null ? joined : first();
    }

    private synchronized Membership first() {
        if (membership == null) {
            begin();
            if (left) { // closed before anything has joined
                Objects.requireNonNull(membership).leave();
            }
        }
        return Objects.requireNonNull(membership);
    }

    private Optional<KeyRegistry> registry() {
        return Optional.ofNullable(membership).map(joined -> joined.registry);
    }

    private void countInstances() {
        instancesCounted = true;
        registry().ifPresent(KeyRegistry::countInstances);
    }

    /** This process in the store; another one each time that it joins. */
    @Override
    public Member member() {
        return present().member;
    }

    @Override
    public NamedPermits named(String name) {
        return new NamedCalls(catalog.permit(name), names, calls);
    }

    @Override
    public long nanoTime() {
        return environment.ticker().getAsLong();
    }

    @Override
    public PermitDefinition define(PermitDefinition declared) {
        return catalog.define(declared);
    }

    @Override
    public void changeLimits(Map<String, @Nullable Integer> limits) {
        catalog.changeLimits(limits);
    }

    /**
     * Calls this before each change of limits or settings, which is refused as a whole if it throws. It receives a function from
     * a declaration to the definition that would be in effect, and must not call back.
     *
     * @return ends that
     */
    public Runnable beforeChange(Consumer<UnaryOperator<PermitDefinition>> check) {
        return catalog.beforeChange(check);
    }

    /**
     * Applies other settings of names and other defaults at once, all of them or none, see {@link #changeLimits}.
     *
     * @throws IllegalArgumentException if a limit contradicts another one or is missing; nothing has changed then
     */
    public void changeSettings(PermitSettings defaults, Map<String, PermitSettings> named) {
        catalog.changeSettings(defaults, named);
    }

    /**
     * Calls this after each change of limits or settings, on the thread that made it.
     *
     * @return ends that
     */
    public Runnable onChange(Runnable listener) {
        return catalog.onChange(listener);
    }

    @Override
    public Optional<PermitDefinition> find(String name) {
        return catalog.find(name);
    }

    @Override
    public Collection<PermitDefinition> definitions() {
        return catalog.definitions();
    }

    /** The names under which there are settings, but which no declaration and no call has used so far. */
    public List<String> unusedSettings() {
        return catalog.unusedSettings();
    }

    /** Whether settings of the first name or pattern apply to a permit of the second name that the code declares. */
    public static boolean areFor(String settings, String declared) {
        return new SettingsByName(Map.of(settings, PermitSettings.NONE)).findDeclared(declared) != null;
    }

    /** The names that are declared, or that a call has used. */
    public Set<String> names() {
        return catalog.names();
    }

    @Override
    public void forEachKey(BiConsumer<String, String> consumer) {
        for (PermitDefinition definition : catalog.definitions()) {
            String key = definition.key();
            if (key != null && !definition.isUnlimited()) {
                consumer.accept(catalog.observedName(definition.name()), key);
            }
        }
        KeyRegistry registry = registry().orElse(null);
        if (registry == null) {
            return;
        }
        for (KeyQueue queue : registry) {
            for (String name : queue.observedNames()) {
                consumer.accept(name, queue.key());
            }
        }
    }

    /** Who holds and who waits in the store; fails with {@code PermitStoreException}. */
    @Override
    public CompletionStage<KeyState> inspect(String key) {
        return present().registry.operations().inspect(key);
    }

    @Override
    public CompletionStage<Void> override(String key, OverrideLimit limit, Duration lasts) {
        return present().registry.operations().override(key, limit, lasts);
    }

    /** From now on calls obey the pauses of names, and of the application with this name. */
    public synchronized void obeyPauses(String nameOfApplication) {
        application = nameOfApplication;
        registry().ifPresent(registry -> registry.operations().obeyPauses(nameOfApplication));
    }

    /** Whether an operator has paused all calls of the name or pattern, or of the application, as far as this instance knows. */
    public boolean isPaused(String name) {
        return registry()
                .filter(registry -> registry.operations().isPaused(name))
                .isPresent();
    }

    /**
     * The limit in force of a key for calls of this name, as far as this process knows: 0 while an operator has paused them,
     * {@link PermitDefinition#PER_CALL} if each call states its own.
     */
    public int limitInForce(String name, String key) {
        if (isPaused(name) || isPaused(catalog.observedName(name))) {
            return 0;
        }
        int stated = find(name).map(PermitDefinition::limit).orElse(PermitDefinition.PER_CALL);
        return registry().map(registry -> registry.limitInForce(key, stated)).orElse(stated);
    }

    @Override
    public Optional<String> application() {
        return Optional.ofNullable(application);
    }

    @Override
    public List<String> pauses(String name) {
        return List.copyOf(present().registry.operations().pauses(name, catalog.observedName(name)));
    }

    @Override
    public CompletionStage<Void> pause(String pause, OverrideLimit limit, Duration lasts) {
        return present().registry.operations().pause(pause, limit, lasts);
    }

    @Override
    public CompletionStage<KeyList> keysInStore(int most) {
        return present().registry.operations().keysInStore(most);
    }

    @Override
    public CompletionStage<Integer> evict(String key, String member) {
        return present().registry.operations().evict(key, member);
    }

    @Override
    public int take(String key, long call) {
        return registry().map(joined -> joined.operations().take(key, call)).orElse(0);
    }

    /**
     * Sends the store a claim that asks for nothing, the same way as all claims, and reads the key: a store may answer such
     * a claim without the access that a real one needs. Ends with the answers, or fails with {@code PermitStoreException}.
     * The key is one that no call uses, {@value KeyRegistry#HEALTH_KEY}.
     */
    public CompletionStage<?> checkHealth() {
        KeyRegistry registry = present().registry;
        CompletionStage<KeyState> read = registry.operations().inspect(KeyRegistry.HEALTH_KEY);
        return registry.checkHealth().thenCombine(read, (holding, state) -> state);
    }

    /**
     * Why this process may get no permits although the store may answer: it receives no notifications, or claims or timers
     * have been due for too long. Empty if all is well. For health.
     */
    public Optional<String> problem() {
        return registry().flatMap(KeyRegistry::problem);
    }

    @Override
    public StoreGauges status() {
        return status;
    }

    /** What this process knows of each name that is declared, or that a call has used. */
    public Collection<PermitGauges> gauges() {
        return catalog.gauges();
    }

    @Override
    public Optional<PermitGauges> gauges(String name) {
        return catalog.gauges(name);
    }

    @Override
    public boolean isLimitFromSettings(String name) {
        return catalog.isLimitFromSettings(name);
    }

    @Override
    public List<String> keysInUse(String name) {
        return registry()
                .map(joined -> List.copyOf(joined.operations().keys(name)))
                .orElse(List.of());
    }

    @Override
    public List<CallView> calls(String key, int most) {
        return registry().map(joined -> joined.operations().calls(key, most)).orElse(List.of());
    }

    /** Has each later call recorded with who made it, for {@link #calls}. Nothing is recorded without. */
    public void describeCallersBy(CallerSource source) {
        callers = source;
        Membership joined = membership;
        if (joined != null) {
            joined.outcomes.describeCallersBy(source);
        }
    }

    /** How many keys this process has in memory. */
    public int keys() {
        return registry().map(KeyRegistry::size).orElse(0);
    }

    /**
     * Begins the end of this process: rejects waiting calls and returns idle permits. Calls that hold permits go on and return
     * theirs. Later calls get a permit if one is free, and are rejected instead of waiting for one. The stage completes when no
     * permit is held and the store has confirmed that, or has not for a command time-out.
     */
    public CompletionStage<Void> shutdown() {
        Membership joined = membership;
        return joined == null ? CompletableFuture.completedStage(null) : joined.shutdown();
    }

    @Override
    public CompletionStage<Void> drain() {
        Membership joined = membership;
        return joined == null ? CompletableFuture.completedStage(null) : joined.drain();
    }

    /**
     * {@link #drain()} without waiting for running calls, then leaves the store. Takes about a second at most. Calls are
     * rejected until {@link #join}.
     */
    @Override
    public void close() {
        Membership joined;
        synchronized (this) {
            left = true;
            joined = membership;
        }
        if (joined != null) {
            joined.leave();
        }
    }

    private final class Names implements NamedCalls.Names {

        @Override
        public boolean settled(BooleanSupplier look) {
            return catalog.settled(look);
        }

        @Override
        public PermitDefinition definition(String name) {
            return catalog.permit(name).definition();
        }

        @Override
        public Permits permits() {
            return PermitEngine.this;
        }
    }
}
