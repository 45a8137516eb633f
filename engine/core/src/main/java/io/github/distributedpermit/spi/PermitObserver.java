package io.github.distributedpermit.spi;

import io.github.distributedpermit.PermitRejectedException.Reason;
import java.time.Duration;

/**
 * Is notified of what happens to calls and to claims; for meters, traces and logs. The events of one call come one after another,
 * perhaps on different threads; only {@link #lost} may come at any time. Called outside of every lock by the thread it happens on,
 * so it must be quick. What it throws, errors included, is logged and reaches neither the call nor other observers.
 */
public interface PermitObserver {

    /** The store has been joined; once for each engine. The gauges live as long as the application. */
    default void joined(StoreGauges gauges) {}

    /** A name is used for the first time; its gauges live as long as the application. */
    default void named(PermitGauges gauges) {}

    /**
     * A call arrives, on the thread of its caller. One of the following events ends its wait.
     *
     * @param waits whether the call has to wait at least for an answer of the store; otherwise it has its permit already
     */
    default void arrived(PermitCall call, boolean waits) {}

    /**
     * A call that waits was queued before others of this instance that had arrived earlier, because it has a head start.
     *
     * @param calls how many
     */
    default void overtook(PermitCall call, int calls) {}

    /**
     * A call got its permits; {@link #released} follows. They may be {@linkplain PermitCall#isLost() lost} already.
     *
     * @param via where they came from
     * @param waited how long the call waited; zero if it did not have to
     */
    default void acquired(PermitCall call, Via via, Duration waited) {}

    /** A call got no permit although the store answers. */
    default void rejected(PermitCall call, Reason reason, Duration waited) {}

    /** A call ended because the store failed. */
    default void failed(PermitCall call, Throwable cause, Duration waited) {}

    /** A waiting call was interrupted or cancelled by its caller, or ended by an error. */
    default void abandoned(PermitCall call, Duration waited) {}

    /** A call gave its permits back. */
    default void released(PermitCall call, Duration held) {}

    /** A call lost what it held, perhaps before it learned that it had it; {@link #released} follows when its work ends. */
    default void lost(PermitCall call) {}

    /**
     * This instance has seen that an operator has set the limit of a key, through whatever instance, or that it was lifted or ended.
     *
     * @param key also one of {@link Pause}
     * @param limit {@linkplain OverrideLimit#isEmpty() empty} if none is set any more
     */
    default void limitSet(String key, OverrideLimit limit) {}

    /** A claim of this instance has freed permits of others that are not alive any more. */
    default void expired(String key, Expired expired) {}

    /**
     * The store may have lost its state, and grants nothing new of this key for a while. It may be said again of the same key meanwhile.
     *
     * @param lasts how long at most, or the longest lease of another instance
     */
    default void graceBegan(String key, Duration lasts) {}

    /** All keys of this instance get new permits again, so long after the first {@link #graceBegan}. */
    default void graceEnded(Duration lasted) {}

    /** The store has not answered this instance for about a second; {@link #storeAnswers} ends the outage. */
    default void storeSilent() {}

    /** The store answers again, after so long. */
    default void storeAnswers(Duration outage) {}

    /**
     * The store has begun to answer slowly, so that calls wait that long and permits are in use that much longer; {@link #storeQuick} ends
     * that.
     *
     * @param average of the last seconds
     */
    default void storeSlow(Duration average) {}

    /** The store answers quickly again, and was slow for so long. */
    default void storeQuick(Duration lasted) {}

    /**
     * Members of a key state different limits, and no operator has set one that applies to all of them. Once for each limit that joins.
     *
     * @param limits for people: each limit, and the members that state it
     */
    default void limitsDiffer(String key, String limits) {}

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
