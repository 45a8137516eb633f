package io.github.distributedpermit.spi;

import java.time.Duration;
import java.util.Optional;

/**
 * What the store has recorded for a member and a key.
 *
 * @param permits how many the member may hold
 * @param limit the limit in effect: the operator's override, else the member's own; 0 is a pause
 * @param sequence of the record, not of the request: the highest the store has seen from the member
 * @param version of the record; with {@code sequence} it orders answers and notifications. Never restarts
 * @param epoch of the server that has answered: it changes when the server may have lost state. 0 if the store keeps its state
 *     or does not know the epoch
 * @param others what the other members of the key mean for this one
 */
public record Holding(int permits, int limit, long sequence, long version, long epoch, Others others) {

    /** The answer of a store that does not lose its state. */
    public Holding(int permits, int limit, long sequence, long version, Others others) {
        this(permits, limit, sequence, version, 0, others);
    }

    /**
     * What the other members of the key mean for this one.
     *
     * @param contended whether another member is queued
     * @param over whether more permits are in use than the limit in effect allows
     * @param grace whether the store has lost the state of the key and grants nothing new but what holders have reclaimed and
     *     returned since
     * @param recheckAfter when to claim again at the latest, because permits of an expired member can be collected then
     */
    public record Others(boolean contended, boolean over, boolean grace, Optional<Duration> recheckAfter) {

        /** No other member waits, and the member need not wait for any. */
        public static final Others NONE = of(false, false);

        /** In a store that does not lose its state, and keeps its members alive by sessions. */
        public static Others of(boolean contended, boolean over) {
            return new Others(contended, over, false, Optional.empty());
        }
    }
}
