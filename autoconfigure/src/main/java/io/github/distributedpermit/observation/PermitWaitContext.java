package io.github.distributedpermit.observation;

/** The wait of a call for a permit, from its arrival to its outcome: {@code granted}, the reason of a rejection, {@code failed} or {@code abandoned}. */
public final class PermitWaitContext extends PermitObservationContext {

    PermitWaitContext(String permit, String key, int permits) {
        super(permit, key, permits);
    }
}
