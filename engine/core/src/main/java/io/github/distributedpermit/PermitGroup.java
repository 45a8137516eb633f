package io.github.distributedpermit;

import java.util.List;

/**
 * The permits of several keys that one call of {@link Permits#acquireAll} took together. Safe for use by several threads; the
 * thread that releases need not be the one that acquired.
 */
public final class PermitGroup implements AutoCloseable {

    private final List<Permit> permits;

    PermitGroup(List<Permit> permits) {
        this.permits = List.copyOf(permits);
    }

    /** One permit for each key, in the order in which they were taken, see {@link Permits#acquireAll}. */
    public List<Permit> permits() {
        return permits;
    }

    /** Whether all of them are still validly held, see {@link Permit#isHeld()}. */
    public boolean isHeld() {
        return permits.stream().allMatch(Permit::isHeld);
    }

    /**
     * Gives all of them back, the last one first, see {@link Permit#release()}. Idempotent.
     *
     * @return whether all of them were validly held until now, and this call gave them back
     */
    public boolean release() {
        return releaseAll(permits);
    }

    /**
     * Gives permits back, the last one first. An error of one, in an observer for example, keeps none of the others in use; the
     * first error is thrown at the end.
     */
    static boolean releaseAll(List<Permit> permits) {
        boolean held = true;
        Throwable first = null;
        for (int i = permits.size() - 1; i >= 0; i--) {
            try {
                held &= permits.get(i).release();
            } catch (RuntimeException | Error e) {
                first = first == null ? e : first;
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException exception) {
            throw exception;
        }
        return held;
    }

    /** The same as {@link #release()}, without the answer. */
    @Override
    public void close() {
        release();
    }
}
