package io.github.distributedpermit.spi;

import org.jspecify.annotations.Nullable;

/** A claim failed. Never means "limit reached". */
public final class PermitStoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean permanent;

    private PermitStoreException(String message, @Nullable Throwable cause, boolean permanent) {
        super(message, cause);
        this.permanent = permanent;
    }

    /** A failure that may heal by itself: the core repeats the claim while calls wait. */
    public static PermitStoreException passing(String message, @Nullable Throwable cause) {
        return new PermitStoreException(message, cause, false);
    }

    /** A failure that only people can mend, such as a wrong password, a missing right or a foreign type at our key. */
    public static PermitStoreException permanent(String message, @Nullable Throwable cause) {
        return new PermitStoreException(message, cause, true);
    }

    /** Whether waiting is useless. */
    public boolean isPermanent() {
        return permanent;
    }
}
