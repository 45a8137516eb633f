package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.jfr.FlightRecording;
import io.github.distributedpermit.spi.PermitObserver;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * All that is notified of events: the observers of the application and the recordings of Java Flight Recorder. One that throws,
 * errors included, affects neither the others nor the call. Thread-safe if they are.
 */
public final class Observers {

    /** No observers of the application. */
    public static final Observers NONE = new Observers(List.of());

    private static final Logger LOG = System.getLogger(Observers.class.getName());

    private final PermitObserver[] all;
    private final boolean ofApplication;

    /** With these observers of the application. */
    public Observers(List<PermitObserver> observers) {
        List<PermitObserver> each = new ArrayList<>(observers);
        FlightRecording.observer().ifPresent(each::add);
        all = each.toArray(PermitObserver[]::new);
        ofApplication = !observers.isEmpty();
    }

    /** Whether the application has observers, so that values for them need to be computed. */
    boolean areOfApplication() {
        return ofApplication;
    }

    /** Whether what happens to calls is observed now. */
    public boolean followCalls() {
        return ofApplication || FlightRecording.isOn();
    }

    /** Notifies all of them. */
    public void each(Consumer<PermitObserver> event) {
        for (PermitObserver observer : all) {
            try {
                event.accept(observer);
            } catch (Throwable e) { // an error, too, must not lose the permit
                report(e);
            }
        }
    }

    private static void report(Throwable e) {
        try {
            LOG.log(Level.WARNING, "An observer of permits threw an exception; the call is not affected", e);
        } catch (RuntimeException | Error withoutLog) {
            // nor is it by a log that fails
        }
    }
}
