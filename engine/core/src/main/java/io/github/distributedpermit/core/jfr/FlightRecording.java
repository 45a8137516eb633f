package io.github.distributedpermit.core.jfr;

import io.github.distributedpermit.spi.PermitObserver;
import java.util.Optional;

/** The entrance to the events, for run times with and without the module {@code jdk.jfr}. Stateless. */
public final class FlightRecording {

    private static final boolean AVAILABLE =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecording() {}

    /** Whether a recording follows calls. */
    public static boolean isOn() {
        return AVAILABLE && Events.followCalls();
    }

    /** What records events; empty where it cannot. */
    public static Optional<PermitObserver> observer() {
        return AVAILABLE ? Optional.of(new Events()) : Optional.empty();
    }
}
