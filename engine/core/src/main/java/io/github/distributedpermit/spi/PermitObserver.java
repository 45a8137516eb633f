package io.github.distributedpermit.spi;

import io.github.distributedpermit.PermitRejectedException.Reason;
import java.time.Duration;

/**
 * Is notified of what happens to calls, by permit name; for metrics. Called outside of every lock by the thread it happens on, so
 * it must be quick. What it throws, errors included, is logged and never reaches the call.
 */
public interface PermitObserver {

    /** Ignores everything. */
    PermitObserver NONE = new PermitObserver() {};

    /** A name is used for the first time; its gauges live as long as the application. */
    default void named(PermitGauges gauges) {}

    /** A call got its permit. */
    default void acquired(String name, Duration waited) {}

    /** A call got no permit. */
    default void rejected(String name, Reason reason, Duration waited) {}

    /** A call ended because the store failed. */
    default void failed(String name, Duration waited) {}

    /** A call gave its permit back. */
    default void released(String name, Duration held) {}

    /**
     * A call lost what it held.
     *
     * @param permits how many permits that were
     */
    default void lost(String name, int permits) {}

    /**
     * A call got what another call of this process gave back, without the store.
     *
     * @param permits how many permits that were
     */
    default void handedOver(String name, int permits) {}
}
