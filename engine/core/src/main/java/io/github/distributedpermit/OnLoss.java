package io.github.distributedpermit;

/** What happens to a call of a limited method when its permit is lost, such as when the store is away for a lease. */
public enum OnLoss {
    /** The call goes on; it can look at {@link Permit#isHeld()} of {@link Permits#current()}. */
    CONTINUE,
    /**
     * The thread of the call is interrupted, once. The call ends when it reacts to that. An interrupt that the method has
     * not reacted to when it ends is cleared, so that it does not reach the thread's next work. Once the method has reacted,
     * another interrupt of the thread is left as it is; one that comes before cannot be told from the first. A call that
     * still waits for another of its permits ends with an {@link InterruptedException} or a
     * {@link PermitInterruptedException} whose message names the lost permit, and the thread's flag is not set then.
     */
    INTERRUPT
}
