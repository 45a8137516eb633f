package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.health.HealthProbe;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.StoreGauges;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Joins the store at start, and asks it if the application is to fail fast. The member's id is made with the join: a process
 * that is restored from an image joins after the restore, so no two copies of an image have the same one.
 *
 * <p>At the shutdown, after the web server has stopped and before the application's connections do, it waits until the running calls
 * have returned their permits, at most {@code spring.lifecycle.timeout-per-shutdown-phase}. Of a context that is closed, the engine
 * leaves the store when it is destroyed, after all beans that use permits, so that their {@code @PreDestroy} methods can. A context
 * that is only stopped, as before a checkpoint, destroys no beans and must keep no connection, so it leaves the store here.
 */
final class StoreMembership extends ContextLifecycle {

    private static final Log log = LogFactory.getLog(StoreMembership.class);

    /** Above connection factories, at 0; below web servers and executors, near the highest. */
    static final int PHASE = 1024;

    private final PermitEngine engine;
    private final Optional<HealthProbe> probe;
    private final Executor executor;
    private final BackendChoice choice;
    private final BooleanSupplier closed;

    /** Counts the starts, so that a stop that ends late does not end what a later start has begun. */
    private final AtomicInteger starts = new AtomicInteger();

    /**
     * Made once.
     *
     * @param choice why the store is in use
     * @param closed whether the context is being closed, and not only stopped
     */
    StoreMembership(
            PermitEngine engine,
            Optional<HealthProbe> probe,
            Executor executor,
            BackendChoice choice,
            BooleanSupplier closed) {
        this.choice = choice;
        this.closed = closed;
        this.engine = engine;
        this.probe = probe;
        this.executor = executor;
    }

    @Override
    void begin() {
        starts.incrementAndGet();
        engine.join();
        probe.flatMap(HealthProbe::problem).ifPresent(problem -> {
            throw new UnusableBackendException(
                    "The store of permits cannot be used: " + problem,
                    "Start it or correct its settings, or set distributed-permit.fail-fast=false to start without it");
        });
        log.info(startLine());
    }

    private String startLine() {
        StoreGauges store = engine.status();
        Member member = engine.member();
        return "This instance %s member '%s' (id %s) of the permits in '%s'%s%s and knows %d permit(s)"
                .formatted(
                        probe.isPresent() ? "is" : "becomes, with the first answer of the store,",
                        member.name(),
                        member.id(),
                        store.backend(),
                        store.address().isEmpty() ? "" : " at " + store.address(),
                        choice.reason(store.backend()),
                        engine.definitions().size());
    }

    @Override
    void end() {
        if (closed.getAsBoolean()) {
            engine.shutdown();
        } else {
            engine.close();
        }
    }

    @Override
    public void stop(Runnable callback) {
        stopping();
        int start = starts.get();
        engine.shutdown()
                .whenCompleteAsync(
                        (done, failure) -> {
                            try {
                                if (starts.get() == start) {
                                    stop();
                                }
                            } finally {
                                callback.run();
                            }
                        },
                        executor);
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
