package io.github.distributedpermit.core;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/** The permits of this process: joins the store as one member and keeps one line per key. Thread-safe. */
public final class PermitEngine implements Permits, PermitCatalog, AutoCloseable {

    private final Catalog catalog;
    private final Lines lines;
    private final CallEnds ends;
    private final Departure departure;
    private final Duration commandTimeout;

    /** As the other one, with one executor for whatever users run. */
    public PermitEngine(
            PermitBackend backend,
            Member member,
            CoreSettings settings,
            Map<String, PermitSettings> named,
            PermitObserver observer,
            LongSupplier ticker,
            Scheduler scheduler,
            Executor executor) {
        this(backend, member, settings, named, observer, ticker, scheduler, executor, executor);
    }

    /**
     * Joins the store. Does not block.
     *
     * @param backend the store
     * @param member this process
     * @param settings for all permits
     * @param named settings by permit name
     * @param observer hears what happens to calls
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
                observer,
                ticker,
                scheduler,
                continuations,
                notices,
                PermitEngine::random);
    }

    PermitEngine(
            PermitBackend backend,
            Member member,
            CoreSettings settings,
            Map<String, PermitSettings> named,
            PermitObserver observer,
            LongSupplier ticker,
            Scheduler scheduler,
            Executor continuations,
            Executor notices,
            DoubleSupplier jitter) {
        Surroundings surroundings =
                new Surroundings(ticker, scheduler, continuations, notices, jitter, SafeObserver.of(observer));
        commandTimeout = settings.commandTimeout();
        departure = new Departure(settings.commandTimeout(), surroundings.scheduler());
        lines = new Lines(backend, member, settings, surroundings, departure::progress);
        catalog = new Catalog(
                settings, named, backend.handOverSlice().toNanos(), lines.session(), surroundings.observer());
        ends = new CallEnds(surroundings.observer(), lines, backend.address());
    }

    private static double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    @Override
    public NamedPermits named(String name) {
        return new NamedCalls(catalog.use(name), lines, ends);
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

    /** Who holds and who waits in the store; fails with {@code PermitStoreException}. */
    public CompletionStage<KeyState> inspect(String key) {
        return lines.inspect(key);
    }

    /**
     * Sets or lifts the operator's limit of a key in the store; 0 is a pause.
     *
     * @throws IllegalArgumentException if the limit is negative
     */
    public CompletionStage<Void> override(String key, OptionalInt limit) {
        return lines.override(key, limit);
    }

    /**
     * Sends the store a claim that asks for nothing, the same way as all claims, and reads the key: a store may answer such
     * a claim without the access that a real one needs. Ends with the answers, or fails with {@code PermitStoreException}.
     * The key is one that no call uses, {@value Lines#PROBE}.
     */
    public CompletionStage<?> probe() {
        CompletionStage<KeyState> read = lines.inspect(Lines.PROBE);
        return lines.probe().thenCombine(read, (holding, state) -> state);
    }

    /**
     * Why this process may get no permits although the store may answer: it receives no notifications, or claims or timers
     * have been due for too long. Empty if all is well. For health.
     */
    public Optional<String> problem() {
        return lines.problem().or(() -> Overdue.among(lines, commandTimeout));
    }

    /** How many keys this process has in memory. */
    public int keys() {
        return lines.size();
    }

    /**
     * Leaves every line (waiting calls are rejected), returns idle permits and refuses new calls; calls that hold permits
     * go on and return theirs. The stage ends when none is held any more and the store has confirmed it, or has failed to
     * for a command time-out.
     */
    public CompletionStage<Void> shutdown() {
        return departure.begin(lines);
    }

    /** {@link #shutdown()} without waiting for running calls, then leaves the store. Takes about a second at most. */
    @Override
    public void close() {
        departure.begin(lines);
        departure.awaitReturns();
        lines.leave();
    }
}
