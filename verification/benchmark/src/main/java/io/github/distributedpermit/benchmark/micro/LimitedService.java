package io.github.distributedpermit.benchmark.micro;

import io.github.distributedpermit.DistributedPermit;
import io.github.resilience4j.bulkhead.annotation.Bulkhead;
import java.util.concurrent.Semaphore;
import org.springframework.resilience.annotation.ConcurrencyLimit;

/** The same method limited in four ways. Does nothing, so that only the limit is measured. */
public class LimitedService {

    private static final int LIMIT = 10;

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
    @Bulkhead(name = "limited")
    public void bulkhead() {
        // nothing
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
