package io.github.distributedpermit.core.jfr;

/**
 * Which events a recording has switched on. A class of its own, so that nothing of {@code jdk.jfr} is loaded where that module
 * is absent. A running recording instruments the classes of the events, and then these instances answer {@code true}.
 */
final class Events {

    private static final PermitWaitEvent WAIT = new PermitWaitEvent();
    private static final PermitHoldEvent HOLD = new PermitHoldEvent();
    private static final PermitLossEvent LOSS = new PermitLossEvent();

    private Events() {}

    static boolean followCalls() {
        return WAIT.isEnabled() || HOLD.isEnabled();
    }

    static void lost(String name, String key, int permits) {
        if (LOSS.isEnabled()) {
            PermitLossEvent event = new PermitLossEvent();
            event.describe(name, key, permits);
            event.commit();
        }
    }
}
