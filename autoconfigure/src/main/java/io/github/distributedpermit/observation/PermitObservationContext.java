package io.github.distributedpermit.observation;

import io.micrometer.observation.Observation;

/** What an observation of a permit is about. The outcome is set by the thread that ends the observation. */
public abstract class PermitObservationContext extends Observation.Context {

    private static final String NONE = "none";

    private final String permit;
    private final String key;
    private final int permits;
    private volatile String outcome = NONE;

    PermitObservationContext(String permit, String key, int permits) {
        this.permit = permit;
        this.key = key;
        this.permits = permits;
    }

    /** The name of the permit, as in settings. */
    public String getPermit() {
        return permit;
    }

    /** The key, as the user gave it. There may be any number of them. */
    public String getKey() {
        return key;
    }

    /** How many permits the call asks for. */
    public int getPermits() {
        return permits;
    }

    /** How it ended; {@code none} until then. */
    public String getOutcome() {
        return outcome;
    }

    /** The first outcome counts. */
    synchronized boolean end(String with) {
        boolean first = outcome.equals(NONE);
        if (first) {
            outcome = with;
        }
        return first;
    }
}
