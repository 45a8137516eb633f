package io.github.distributedpermit.core.key;

/** What is known of an operator's pause of all calls of a name. */
public enum PauseState {

    /** There is none, or the store that would say so does not answer: then claims find that out. */
    NONE,

    /** The store is being asked. A call is held back until it has answered. */
    UNKNOWN,

    /** Calls wait, and ask for nothing. */
    PAUSED
}
