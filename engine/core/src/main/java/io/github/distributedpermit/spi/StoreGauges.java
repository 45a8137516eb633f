package io.github.distributedpermit.spi;

import java.time.Duration;
import java.util.Optional;

/** How this instance gets along with its store, from what claims have shown. Cheap to read from any thread; asks nothing. */
public interface StoreGauges {

    /** The name of the backend. */
    String backend();

    /** Host and port of the servers, without secrets; empty if there are none. */
    String address();

    /** See {@link PermitStore#warning}. */
    default Optional<String> warning() {
        return Optional.empty();
    }

    /**
     * Whether the store answers: false from about a second after the first claim that failed, until one is answered. An
     * instance that sends no claims does not notice an outage.
     */
    boolean isAnswering();

    /** How long ago the store last answered a claim; empty if it never has. */
    Optional<Duration> sinceAnswer();

    /** How long claims take, if the store answers slowly: a quarter of the command time-out or longer for some seconds, mostly. */
    default Optional<Duration> slow() {
        return Optional.empty();
    }

    /**
     * Whether calls whose permits allow that run without the store now, see
     * {@link io.github.distributedpermit.OnStoreFailure}: from the first one after the store time-out, until the store has
     * answered steadily.
     */
    default boolean isBypassed() {
        return false;
    }

    /** Whether this instance takes no more permits: an operator has drained it, or it has left the store. */
    default boolean isDrained() {
        return false;
    }

    /** How many claims have no answer yet, over all keys. */
    int unanswered();

    /** How many keys this instance uses. */
    int keys();

    /** How many of them get no new permits for up to a lease, because the store may have lost state. */
    default int inGrace() {
        return 0;
    }

    /** For how long at most that goes on; empty if there is none, or if it lasts longer because of the lease of another instance. */
    default Optional<Duration> graceLeft() {
        return Optional.empty();
    }

    /** How many permits calls of this instance have lost since the start. */
    long lost();
}
