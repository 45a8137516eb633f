package io.github.distributedpermit.observation;

/** The time for which a call holds a permit, from the grant to its outcome: {@code released} or {@code lost}. */
public final class PermitHoldContext extends PermitObservationContext {

    PermitHoldContext(String permit, String key, int permits) {
        super(permit, key, permits);
    }
}
