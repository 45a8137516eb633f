package io.github.distributedpermit.benchmark.ours;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.CallerSource;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

/** This project as one member of a store, used as an application uses it in code. */
public final class OurContender implements Contender {

    private final PermitEngine engine;
    private final AutoCloseable connection;
    private final Timers timers = new Timers();

    /**
     * Joins the store.
     *
     * @param connection closed with the contender
     */
    public OurContender(PermitBackend backend, CoreSettings settings, AutoCloseable connection) {
        this(backend, settings, Observers.NONE, connection);
    }

    /**
     * Joins the store with an observers, as an application with metrics has them.
     *
     * @param connection closed with the contender
     */
    public OurContender(PermitBackend backend, CoreSettings settings, Observers observers, AutoCloseable connection) {
        this.connection = connection;
        String id = UUID.randomUUID().toString();
        this.engine = new PermitEngine(
                backend,
                new Member(id, "benchmark"),
                settings,
                PermitSettings.NONE,
                Map.of(),
                CoreEnvironment.of(
                        System::nanoTime, timers, ForkJoinPool.commonPool(), ForkJoinPool.commonPool(), observers));
    }

    /** Has each call recorded with who made it, as in an application that exposes the endpoint. */
    public OurContender describingCallers(CallerSource callers) {
        engine.describeCallersBy(callers);
        return this;
    }

    /** The permits of one limit, for keys of any number. */
    public NamedPermits permits(int limit) {
        String name = "limit-" + limit;
        engine.define(PermitDefinition.named(name, "the benchmark").limit(limit).build());
        return engine.named(name);
    }

    /** Waits until so many members wait for the key. */
    public void awaitWaiting(String key, int members) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (waiting(key) < members) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("Fewer than " + members + " members wait for " + key);
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private long waiting(String key) throws Exception {
        return engine.inspect(key).toCompletableFuture().get(5, TimeUnit.SECONDS).members().stream()
                .filter(member -> member.waiting())
                .count();
    }

    @Override
    public Gate gate(String key, int limit) {
        return gate(PermitRequest.of(key), limit);
    }

    /** The same for calls that say more. */
    public Gate gate(PermitRequest request, int limit) {
        NamedPermits permits = permits(limit);
        return new Gate() {
            @Override
            public Object enter() throws InterruptedException {
                return permits.acquire(request);
            }

            @Override
            public void leave(Object pass) {
                ((Permit) pass).release();
            }

            @Override
            public CompletionStage<Permit> enterLater() {
                return permits.acquireAsync(request);
            }

            @Override
            public void leaveLater(Object pass) {
                ((Permit) pass).release();
            }
        };
    }

    @Override
    public void close() throws Exception {
        engine.close();
        timers.close();
        connection.close();
    }
}
