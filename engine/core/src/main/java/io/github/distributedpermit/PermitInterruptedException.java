package io.github.distributedpermit;

/**
 * The caller was interrupted while it waited for a permit, and the method it called does not declare
 * {@link InterruptedException}. The thread's interrupt flag is set, no permit is held. Where the cause was the loss of
 * another permit of the call, see {@link OnLoss#INTERRUPT}, the message says so and the flag is not set.
 */
public final class PermitInterruptedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message says key and time waited
     * @param cause the interrupt
     */
    public PermitInterruptedException(String message, InterruptedException cause) {
        super(message, cause);
    }
}
