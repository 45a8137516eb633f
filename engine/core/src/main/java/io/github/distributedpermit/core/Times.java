package io.github.distributedpermit.core;

/** Points in time as the core counts them: nanoseconds of the monotonic clock since the engine started. */
public final class Times {

    /** A point in time that is never reached: nothing is due. */
    public static final long NEVER = Long.MAX_VALUE;

    private Times() {}
}
