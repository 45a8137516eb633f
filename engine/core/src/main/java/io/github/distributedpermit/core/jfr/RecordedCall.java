package io.github.distributedpermit.core.jfr;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.CallObserver;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Records the wait and the hold of one call, and passes what it is notified of to another observer. */
final class RecordedCall implements CallObserver {

    private final String name;
    private final String key;
    private final int permits;
    private final @Nullable CallObserver next;
    private final @Nullable PermitWaitEvent wait;
    private @Nullable PermitHoldEvent hold;

    RecordedCall(String name, String key, int permits, boolean waits, @Nullable CallObserver next) {
        this.name = name;
        this.key = key;
        this.permits = permits;
        this.next = next;
        this.wait = waits ? new PermitWaitEvent() : null;
        if (wait != null) {
            wait.begin();
        }
    }

    @Override
    public void granted() {
        waited("granted");
        PermitHoldEvent begun = new PermitHoldEvent();
        begun.begin();
        hold = begun;
        if (next != null) {
            next.granted();
        }
    }

    @Override
    public void rejected(Reason reason) {
        waited(reason.name().toLowerCase(Locale.ROOT));
        if (next != null) {
            next.rejected(reason);
        }
    }

    @Override
    public void failed(Throwable cause) {
        waited("failed");
        if (next != null) {
            next.failed(cause);
        }
    }

    @Override
    public void abandoned() {
        waited("abandoned");
        if (next != null) {
            next.abandoned();
        }
    }

    @Override
    public void lost() {
        if (next != null) {
            next.lost();
        }
    }

    @Override
    public void released() {
        PermitHoldEvent begun = hold;
        if (begun != null) {
            begun.describe(name, key, permits);
            begun.commit();
        }
        if (next != null) {
            next.released();
        }
    }

    private void waited(String outcome) {
        if (wait != null) {
            wait.describe(name, key, permits);
            wait.outcome = outcome;
            wait.commit();
        }
    }
}
