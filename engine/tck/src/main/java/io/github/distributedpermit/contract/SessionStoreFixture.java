package io.github.distributedpermit.contract;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** A fixture of a store that keeps members alive by sessions, in real time, and commits by check-and-set. */
public interface SessionStoreFixture extends StoreFixture {

    @Override
    default Duration shortLease() {
        return Duration.ofSeconds(1);
    }

    @Override
    default void pass(Duration duration) {
        LockSupport.parkNanos(duration.toNanos());
    }

    @Override
    default long nanoTime() {
        return System.nanoTime();
    }

    /** Check-and-set refuses a claim that is doubled or out of order, before the layer above could see it. */
    @Override
    default Set<Fault> faults() {
        return EnumSet.complementOf(EnumSet.of(Fault.CLAIM_DOUBLED, Fault.CLAIM_REORDERED));
    }

    /** Each takes some ten seconds of real transactions. */
    @Override
    default int runs() {
        return 2;
    }
}
