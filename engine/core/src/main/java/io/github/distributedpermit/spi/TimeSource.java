package io.github.distributedpermit.spi;

/**
 * The time on which waits, leases and minimum holds run. An application has no need to replace the {@link #SYSTEM system's};
 * a test that moves the time does, with a bean of this type. Thread-safe.
 */
public interface TimeSource {

    /** The monotonic clock of the system. Its tasks run on a thread of the JDK, so they must not block. */
    TimeSource SYSTEM = new SystemTime();

    /** Nanoseconds of a monotonic clock with an arbitrary origin, as {@link System#nanoTime()}. */
    long nanoTime();

    /**
     * Runs the task once after the delay, on any thread but the calling one.
     *
     * @return takes the task back, if it has not begun
     */
    Runnable schedule(Runnable task, long delayNanos);
}
