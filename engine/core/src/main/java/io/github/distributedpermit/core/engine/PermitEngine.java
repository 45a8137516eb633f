package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.call.NamedCalls;
import io.github.distributedpermit.core.call.Outcomes;
import io.github.distributedpermit.core.call.StateQueries;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.KeyRegistry;
import io.github.distributedpermit.core.member.Overdue;
import io.github.distributedpermit.core.member.Shutdown;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * The permits of this process: joins the store as one member and has one queue per key in use. The entrance to the core for
 * Spring's side and for tests, which pass in the clock, the scheduler and the executors. Thread-safe.
 */
public final class PermitEngine implements Permits, PermitCatalog, AutoCloseable {

    private final Catalog catalog;
    private final KeyRegistry registry;
    private final Outcomes outcomes;
    private final StateQueries states;
    private final Shutdown shutdown;
    private final Duration commandTimeout;

    /**
     * Joins the store. Does not block.
     *
     * @param backend the store
     * @param member this process
     * @param settings for all permits
     * @param named settings by permit name
     * @param observer is notified of what happens to calls
     * @param ticker the monotonic clock, nanoseconds
     * @param scheduler for renewal, re-checks and time-outs
     * @param continuations runs what users let follow from {@link NamedPermits#acquireAsync}
     * @param notices runs listeners to the loss of permits, on threads that continuations cannot occupy
     */
    public PermitEngine(
            PermitBackend backend,
            Member member,
            CoreSettings settings,
            Map<String, PermitSettings> named,
            PermitObserver observer,
            LongSupplier ticker,
            Scheduler scheduler,
            Executor continuations,
            Executor notices) {
        this(
                backend,
                member,
                settings,
                named,
                new CoreEnvironment(ticker, scheduler, continuations, notices, PermitEngine::random, observer));
    }

    /** The same, with the randomness passed in as well. */
    public PermitEngine(
            PermitBackend backend,
            Member member,
            CoreSettings settings,
            Map<String, PermitSettings> named,
            CoreEnvironment environment) {
        commandTimeout = settings.commandTimeout();
        shutdown = new Shutdown(settings.commandTimeout(), environment.scheduler());
        registry = new KeyRegistry(backend, member, settings, environment, shutdown::progress);
        catalog = new Catalog(
                settings, named, backend.handOverSlice().toNanos(), registry.session(), environment.observer());
        states = new StateQueries(registry, environment);
        outcomes = new Outcomes(environment.observer(), registry, backend.address());
    }

    private static double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    @Override
    public NamedPermits named(String name) {
        return new NamedCalls(catalog.stats(name), registry, outcomes, states);
    }

    @Override
    public PermitDefinition define(PermitDefinition declared) {
        return catalog.define(declared);
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

    /** The names that are declared, or that a call has used. */
    public Set<String> names() {
        return catalog.names();
    }

    /** Who holds and who waits in the store; fails with {@code PermitStoreException}. */
    public CompletionStage<KeyState> inspect(String key) {
        return registry.inspect(key);
    }

    /**
     * Sets or lifts the operator's limit of a key in the store; 0 is a pause.
     *
     * @throws IllegalArgumentException if the limit is negative
     */
    public CompletionStage<Void> override(String key, OptionalInt limit) {
        return registry.override(key, limit);
    }

    /**
     * Sends the store a claim that asks for nothing, the same way as all claims, and reads the key: a store may answer such
     * a claim without the access that a real one needs. Ends with the answers, or fails with {@code PermitStoreException}.
     * The key is one that no call uses, {@value KeyRegistry#PROBE}.
     */
    public CompletionStage<?> probe() {
        CompletionStage<KeyState> read = registry.inspect(KeyRegistry.PROBE);
        return registry.probe().thenCombine(read, (holding, state) -> state);
    }

    /**
     * Why this process may get no permits although the store may answer: it receives no notifications, or claims or timers
     * have been due for too long. Empty if all is well. For health.
     */
    public Optional<String> problem() {
        return registry.problem().or(() -> Overdue.among(registry, commandTimeout));
    }

    /** How many keys this process has in memory. */
    public int keys() {
        return registry.size();
    }

    /**
     * Rejects waiting and new calls and returns idle permits; calls that hold permits go on and return theirs. The stage
     * completes when no permit is held any more and the store has confirmed that, or has not for a command time-out.
     */
    public CompletionStage<Void> shutdown() {
        return shutdown.begin(registry);
    }

    /** {@link #shutdown()} without waiting for running calls, then leaves the store. Takes about a second at most. */
    @Override
    public void close() {
        shutdown.begin(registry);
        shutdown.awaitReturns();
        registry.leave();
    }
}
