package io.github.distributedpermit.harness.history;

/** How a call asks. */
public enum CallKind {
    /** It waits, and only its time-out ends the wait. */
    WAIT,
    /** It waits, and is cancelled or interrupted at any moment. */
    RACE,
    /** It does not wait. */
    TRY,
    /** No call at all, but a time, from asked to ended, for which the process could not run. */
    STALL
}
