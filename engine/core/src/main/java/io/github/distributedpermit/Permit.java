package io.github.distributedpermit;

/**
 * A permit that a call holds. Safe for use by several threads; the thread that releases need not be the one that
 * acquired.
 */
public interface Permit extends AutoCloseable {

    /** The permit's name, as in settings and metrics. */
    String name();

    /** The key, as the caller gave it. */
    String key();

    /** How many of the key's permits this is. */
    int permits();

    /** Identifies this grant; see {@link PermitToken} for what its order is worth. */
    PermitToken token();

    /**
     * Whether the permit is still validly held: not released, and the store is known to remember it. It may turn
     * {@code false} at any moment, when the store could not be reached for a lease or forgot the member. Never blocks.
     */
    boolean isHeld();

    /**
     * Runs the listener once if the permit is lost before it is released, on a thread that the library has for such
     * listeners alone; at once if it is lost already. Listeners of one permit run one after the other, those of others
     * beside them. What a listener throws is logged.
     */
    void onLoss(Runnable listener);

    /**
     * Gives the permit back. Idempotent, never throws because of the store, and does not wait for it unless
     * the setting {@code release} is {@code sync}. Of a lost permit it changes nothing.
     *
     * <p>{@code false} means that other calls may have had the permit while this one still worked, so that the caller can
     * undo its work or warn.
     *
     * <p>With {@code sync} it waits for an answer of the store, at most for the command time-out, and must not be called
     * from a thread that has to read this answer, such as a callback of the Redis connection that permits share.
     *
     * @return whether the permit was validly held until now, and this call gave it back
     */
    boolean release();

    /** The same as {@link #release()}, without the answer. */
    @Override
    default void close() {
        release();
    }
}
