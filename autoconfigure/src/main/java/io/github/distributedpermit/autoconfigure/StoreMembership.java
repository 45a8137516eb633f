package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.health.StoreProbe;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.StoreGauges;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Joins the store at start, asks it if the application is to fail fast, and is the last step of the shutdown: after the web
 * server has drained and before the connection to the store goes down, it waits for running calls (at most
 * {@code spring.lifecycle.timeout-per-shutdown-phase}) and leaves the store. The member's id is made with the join: a process
 * that is restored from an image joins after the restore, so no two copies of an image have the same one.
 */
final class StoreMembership extends ContextLifecycle {

    private static final Log log = LogFactory.getLog(StoreMembership.class);

    /** Above connection factories, at 0; below web servers and executors, near the highest. */
    static final int PHASE = 1024;

    private final @Nullable PermitEngine engine;
    private final Optional<StoreProbe> probe;
    private final Executor executor;

    /** Counts the starts, so that a stop that ends late does not end what a later start has begun. */
    private final AtomicInteger starts = new AtomicInteger();

    StoreMembership(@Nullable PermitEngine engine, Optional<StoreProbe> probe, Executor executor) {
        this.engine = engine;
        this.probe = probe;
        this.executor = executor;
    }

    @Override
    void begin() {
        starts.incrementAndGet();
        if (engine != null) {
            engine.join();
        }
        probe.flatMap(StoreProbe::problem).ifPresent(problem -> {
            throw new UnusableBackendException(
                    "The store of permits cannot be used: " + problem,
                    "Start it or correct its settings, or set distributed-permit.fail-fast=false to start without it");
        });
        if (engine != null) {
            log.info(startLine(engine));
        }
    }

    private static String startLine(PermitEngine joined) {
        StoreGauges store = joined.status();
        Member member = joined.member();
        return "This instance is member '%s' (id %s) of the permits in '%s'%s and has %d permit(s)"
                .formatted(
                        member.name(),
                        member.id(),
                        store.backend(),
                        store.address().isEmpty() ? "" : " at " + store.address(),
                        joined.definitions().size());
    }

    @Override
    void end() {
        if (engine != null) {
            engine.close();
        }
    }

    @Override
    public void stop(Runnable callback) {
        if (engine == null) {
            stop();
            callback.run();
            return;
        }
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
