package io.github.distributedpermit.spi;

import io.github.distributedpermit.PermitRejectedException.Reason;

/**
 * Is notified of what happens to one call, see {@link PermitObserver#arrived}. Its methods are called one after another, but
 * perhaps on different threads; {@link #lost} may come at the same time as {@link #released}. What they throw is logged and
 * never reaches the call.
 */
public interface CallObserver {

    /** The call got its permits; {@link #released} follows. */
    default void granted() {}

    /** The call ended without a permit although the store answers. */
    default void rejected(Reason reason) {}

    /** The call ended because the store failed. */
    default void failed(Throwable cause) {}

    /** The waiting call was interrupted or cancelled by its caller. */
    default void abandoned() {}

    /** The call lost what it held; {@link #released} follows when its work ends. */
    default void lost() {}

    /** The call gave its permits back. */
    default void released() {}
}
