package io.github.distributedpermit.benchmark.micro;

import io.github.distributedpermit.DistributedPermit;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.reactor.bulkhead.operator.BulkheadOperator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import reactor.core.publisher.Mono;

/**
 * The same method limited in several ways, also where it returns a future or a {@code Mono}. Does nothing, so that only the limit
 * is measured.
 */
public class LimitedService {

    private static final int LIMIT = 10;

    private static final String DONE = "done";

    private final Bulkhead bulkhead = Bulkhead.of(
            "operators", BulkheadConfig.custom().maxConcurrentCalls(LIMIT).build());

    private final Semaphore semaphore = new Semaphore(LIMIT, true);

    /** This project. */
    @DistributedPermit(key = "limited", limit = LIMIT)
    public void ours() {
        // nothing
    }

    /** Spring Framework. */
    @ConcurrencyLimit(LIMIT)
    public void concurrencyLimit() {
        // nothing
    }

    /** Resilience4j. */
    @io.github.resilience4j.bulkhead.annotation.Bulkhead(name = "limited")
    public void bulkhead() {
        // nothing
    }

    /** This project, with a stage. */
    @DistributedPermit(key = "limited-stage", limit = LIMIT)
    public CompletableFuture<String> oursStage() {
        return CompletableFuture.completedFuture(DONE);
    }

    /** Resilience4j's decorator of a stage; a call in code, without a proxy's advice. */
    public CompletionStage<String> bulkheadStage() {
        return Bulkhead.decorateCompletionStage(bulkhead, () -> CompletableFuture.completedFuture(DONE))
                .get();
    }

    /** This project, with a {@code Mono}. */
    @DistributedPermit(key = "limited-mono", limit = LIMIT)
    public Mono<String> oursMono() {
        return Mono.just(DONE);
    }

    /** Resilience4j's operator of a {@code Mono}; a call in code, without a proxy's advice. */
    public Mono<String> bulkheadMono() {
        return Mono.just(DONE).transformDeferred(BulkheadOperator.of(bulkhead));
    }

    /** No limit: what a proxy costs by itself, and with it whatever other advice on the class brings along. */
    public void unlimited() {
        // nothing
    }

    /** The JDK, by hand and without a proxy's advice. */
    public void semaphore() {
        semaphore.acquireUninterruptibly();
        semaphore.release();
    }
}
