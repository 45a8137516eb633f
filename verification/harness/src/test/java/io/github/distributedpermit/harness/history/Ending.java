package io.github.distributedpermit.harness.history;

/** How a call ended. */
public enum Ending {
    /** Not yet. */
    NONE,
    /** It has given its permit back. */
    RETURNED,
    /** There was no permit now. */
    REFUSED,
    /** There was none within its time-out. */
    TIMED_OUT,
    /** The store failed. */
    FAILED,
    /** It was cancelled or interrupted. */
    GIVEN_UP,
    /** The application was shutting down. */
    SHUT_DOWN,
    /** In another way, which is a fault of the library. */
    BROKEN;

    private static final Ending[] ALL = values();

    static Ending of(int ordinal) {
        return ALL[ordinal];
    }
}
