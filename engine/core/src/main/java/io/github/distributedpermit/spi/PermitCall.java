package io.github.distributedpermit.spi;

import org.jspecify.annotations.Nullable;

/** One call that asks for permits, as a {@link PermitObserver} sees it. Thread-safe. */
public interface PermitCall {

    /** The name of the permit, as the call states it. */
    String name();

    /**
     * The name for meters: that of the settings which give the name its limit, which may be a pattern. So names made at run time
     * add no meters.
     */
    String observedName();

    /** The key of the permit, as the user gave it. */
    String key();

    /** How many permits the call asks for. */
    int permits();

    /** Whether the call has lost what it held. */
    boolean isLost();

    /** Whether it has lost what it held because the store took it, by order of an operator or because its record was deleted. */
    default boolean isTaken() {
        return false;
    }

    /** Keeps a value of this observer with the call, in place of the one before. For one thread at a time. */
    void attach(PermitObserver owner, Object value);

    /** The value that this observer has attached to the call; {@code null} if there is none. */
    @Nullable
    Object attached(PermitObserver owner);
}
