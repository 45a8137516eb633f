package io.github.distributedpermit;

/**
 * The store of permits failed or could not be reached, so it is unknown whether a permit is free. Never means "limit
 * reached". The cause is the exception of the store's client; where it has none, or might
 * quote a password, it is the library's.
 */
public final class PermitBackendException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message says key, time waited and what to do, without secrets
     * @param cause what the store's client said
     */
    public PermitBackendException(String message, Throwable cause) {
        super(message, cause);
    }
}
