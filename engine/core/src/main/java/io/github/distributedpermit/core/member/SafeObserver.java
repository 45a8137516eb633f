package io.github.distributedpermit.core.member;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.CallObserver;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.StoreGauges;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Passes everything to an observer of the application, and keeps what that throws from the calls. Thread-safe if the observer is. */
final class SafeObserver implements PermitObserver {

    private static final Logger LOG = System.getLogger(SafeObserver.class.getName());

    private final PermitObserver target;

    private SafeObserver(PermitObserver target) {
        this.target = target;
    }

    /** The observer as a safe one. */
    static PermitObserver of(PermitObserver observer) {
        return observer == NONE ? NONE : new SafeObserver(observer);
    }

    /** Runs it, and logs what it throws. */
    static void safely(Runnable notice) {
        try {
            notice.run();
        } catch (Throwable e) { // an error, too, must not lose the permit
            report(e);
        }
    }

    private static void report(Throwable e) {
        try {
            LOG.log(Level.WARNING, "An observer of permits threw an exception; the call is not affected", e);
        } catch (RuntimeException | Error withoutLog) {
            // nor is it by a log that fails
        }
    }

    @Override
    public void joined(StoreGauges gauges) {
        safely(() -> target.joined(gauges));
    }

    @Override
    public void named(PermitGauges gauges) {
        safely(() -> target.named(gauges));
    }

    @Override
    public @Nullable CallObserver arrived(String name, String key, int permits, boolean waits) {
        try {
            CallObserver call = target.arrived(name, key, permits, waits);
            return call == null ? null : new SafeCallObserver(call);
        } catch (Throwable e) {
            report(e);
            return null;
        }
    }

    @Override
    public void acquired(String name, int permits, Via via, Duration waited) {
        safely(() -> target.acquired(name, permits, via, waited));
    }

    @Override
    public void rejected(String name, Reason reason, Duration waited) {
        safely(() -> target.rejected(name, reason, waited));
    }

    @Override
    public void failed(String name, Duration waited) {
        safely(() -> target.failed(name, waited));
    }

    @Override
    public void abandoned(String name, Duration waited) {
        safely(() -> target.abandoned(name, waited));
    }

    @Override
    public void released(String name, Duration held) {
        safely(() -> target.released(name, held));
    }

    @Override
    public void lost(String name, int permits) {
        safely(() -> target.lost(name, permits));
    }

    @Override
    public void claimed(boolean answered, Duration took) {
        safely(() -> target.claimed(answered, took));
    }
}
