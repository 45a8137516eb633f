package io.github.distributedpermit.harness.history;

/** How a call asks. */
public enum CallKind {
    /** It waits in line, and nobody but its time-out ends that. */
    WAIT,
    /** It waits, and is cancelled or interrupted at any moment. */
    RACE,
    /** It does not wait. */
    TRY,
    /** No call at all, but a time, from asked to ended, for which the process could not run. */
    STALL
}
