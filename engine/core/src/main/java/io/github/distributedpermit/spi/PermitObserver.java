package io.github.distributedpermit.spi;

import io.github.distributedpermit.PermitRejectedException.Reason;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Is notified of what happens to calls, by permit name, and to claims; for metrics. Permits that have their limit from a pattern
 * of the settings are named by that pattern, so that names made at run time add no meters. Called outside of every lock by
 * the thread it happens on, so it must be quick. What it throws, errors included, is logged and never reaches the call.
 */
public interface PermitObserver {

    /** Ignores everything. */
    PermitObserver NONE = new PermitObserver() {};

    /** The store has been joined; once for each engine. The gauges live as long as the application. */
    default void joined(StoreGauges gauges) {}

    /** A name is used for the first time; its gauges live as long as the application. */
    default void named(PermitGauges gauges) {}

    /**
     * A call arrives, on the thread of its caller. What this returns is notified of this one call.
     *
     * @param name of the permit
     * @param key of the permit, as the user gave it
     * @param permits how many the call asks for
     * @param waits whether the call has to wait at least for an answer of the store; otherwise it has its permit already
     * @return {@code null} if the call is not followed
     */
    default @Nullable CallObserver arrived(String name, String key, int permits, boolean waits) {
        return null;
    }

    /**
     * A call got its permits.
     *
     * @param permits how many
     * @param via where they came from
     * @param waited how long the call waited; zero if it did not have to
     */
    default void acquired(String name, int permits, Via via, Duration waited) {}

    /** A call got no permit although the store answers. */
    default void rejected(String name, Reason reason, Duration waited) {}

    /** A call ended because the store failed. */
    default void failed(String name, Duration waited) {}

    /** A waiting call was interrupted or cancelled by its caller. */
    default void abandoned(String name, Duration waited) {}

    /** A call gave its permit back. */
    default void released(String name, Duration held) {}

    /**
     * A call lost what it held.
     *
     * @param permits how many permits that were
     */
    default void lost(String name, int permits) {}

    /**
     * A claim of this instance ended.
     *
     * @param answered whether the store answered it; otherwise it failed, was refused, or timed out, and is repeated
     * @param took from when it was sent
     */
    default void claimed(boolean answered, Duration took) {}

    /** Where the permits of a call came from. */
    enum Via {
        /** From the store, by the answer to a claim or by a notification. */
        STORE,
        /** From another call of this process, without the store. */
        HAND_OVER,
        /** Without a permit of the store, because the name has no limit. */
        WITHOUT_STORE,
        /** Without a permit of the store, because it did not answer and the permit's {@code onStoreFailure} allows that. */
        OUTAGE
    }
}
