package io.github.distributedpermit.spi;

import java.util.OptionalLong;

/**
 * May be implemented by the stage that {@link PermitStore#claim} returns, where claims can wait in the client: for a
 * connection, or behind others. The command time-out then runs from when the claim was written instead of from when it was
 * passed to the store. May be asked by any thread.
 */
public interface PendingClaim {

    /** When the claim was written, on the monotonic clock the store was given; empty while it waits in the client. */
    OptionalLong writtenAtNanos();
}
