package io.github.distributedpermit.core.jfr;

import io.github.distributedpermit.spi.CallObserver;
import org.jspecify.annotations.Nullable;

/** The entrance to the events, for run times with and without the module {@code jdk.jfr}. Stateless. */
public final class FlightRecording {

    private static final boolean AVAILABLE =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecording() {}

    /** Whether a recording follows calls. */
    public static boolean isOn() {
        return AVAILABLE && Events.followCalls();
    }

    /**
     * Records one call that arrives now, and passes everything on.
     *
     * @param waits whether the call does not have its permit yet
     * @param next is notified as well
     */
    public static CallObserver record(
            String name, String key, int permits, boolean waits, @Nullable CallObserver next) {
        return new RecordedCall(name, key, permits, waits, next);
    }

    /** Records that a call has lost its permit. */
    public static void lost(String name, String key, int permits) {
        if (AVAILABLE) {
            Events.lost(name, key, permits);
        }
    }
}
