package io.github.distributedpermit.core.key;

/** Why a call has lost its permits, for the log. */
public enum LossCause {

    /** No answer has come in time. */
    UNCONFIRMED("the store has not confirmed it for a lease"),

    /** The store has said so, or its session has expired. */
    SESSION_ENDED("the session of this instance in the store has ended"),

    /** The store has recorded others meanwhile, or the claim that was to record this one again came too late. */
    STATE_LOST("the store has lost state, and has not recorded it again"),

    /** The store has answered with fewer permits than calls have, or an operator has taken those of one call. */
    TAKEN("it was taken from this instance, by order of an operator or because its record was deleted");

    private final String text;

    LossCause(String text) {
        this.text = text;
    }

    /** As part of a sentence about a permit. */
    public String text() {
        return text;
    }
}
