package io.github.distributedpermit.contract;

import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** A store under test, its time, and hands that reach into it from outside. Opened anew, and empty, for each test. */
public interface StoreFixture extends AutoCloseable {

    /** The backend under test. */
    PermitBackend backend();

    /** A lease that never ends within a test, whatever the machine does. */
    Duration lease();

    /** A lease that a test can afford to let lapse, and long enough for a few claims. */
    Duration shortLease();

    /** Lets the store's time pass: drives a fake clock, or waits. */
    void pass(Duration duration);

    /** The monotonic clock of the members; in step with the store's time. */
    long nanoTime();

    /** The key as the store has it, read past the backend. */
    KeySnapshot look(String key);

    /** The name of everything in the store that is ours, read past the backend: keys, nodes, sessions of members gone. */
    Collection<String> residue();

    /** Lets the time pass after which unused keys vanish. */
    void passIdleTime();

    /**
     * The process behind the store has died without a word, and the store has had time to notice. With leases it is
     * enough that a {@link #shortLease()} passes; with sessions the fixture ends the session.
     */
    default void die(PermitStore store) {
        pass(shortLease().plusMillis(20));
    }

    /**
     * Waits until a stage of the store has ended.
     *
     * @return false if it does not end: the claim or its answer was lost, and has to be repeated
     */
    default boolean arrives(CompletableFuture<?> answer) {
        try {
            answer.get(20, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            return true;
        } catch (Exception e) {
            throw new AssertionError("The store does not answer", e);
        }
        return true;
    }

    /** Whether every notice arrives exactly once, so that tests may count them. */
    default boolean noticesArrive() {
        return true;
    }

    /** From now on the network is good. */
    default void calm() {}

    /** From now on things go wrong again, if they ever did. */
    default void rough() {}

    /**
     * The faults the store has to bear at its own door. A store with sessions that refuses doubled and late messages by
     * check-and-set leaves out {@link Fault#CLAIM_DOUBLED} and {@link Fault#CLAIM_REORDERED}.
     */
    default Set<Fault> faults() {
        return EnumSet.allOf(Fault.class);
    }

    /** How late a message may be at most; less than a tombstone lasts. */
    default Duration latest() {
        return shortLease().multipliedBy(3).dividedBy(2);
    }

    /** How many random runs behind a bad network a test makes; each is about 1,500 turns of some 200 us store time. */
    default int runs() {
        return 5;
    }

    /** Ends what the fixture started. */
    @Override
    void close();
}
