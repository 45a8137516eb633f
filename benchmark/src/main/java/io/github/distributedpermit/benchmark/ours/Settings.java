package io.github.distributedpermit.benchmark.ours;

import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.Release;
import java.time.Duration;

/** The defaults of the properties, and the few that the benchmark varies. */
public final class Settings {

    private Settings() {}

    /** {@code release: sync}: giving back waits for the store. */
    public static CoreSettings syncRelease() {
        return with(CoreSettings.DEFAULTS.lease(), Duration.ZERO, Release.SYNC);
    }

    /** {@code linger: 1ms}. */
    public static CoreSettings linger() {
        return with(CoreSettings.DEFAULTS.lease(), Duration.ofMillis(1), Release.ASYNC);
    }

    /** Another lease. */
    public static CoreSettings lease(Duration lease) {
        return with(lease, Duration.ZERO, Release.ASYNC);
    }

    private static CoreSettings with(Duration lease, Duration linger, Release release) {
        CoreSettings base = CoreSettings.DEFAULTS;
        return new CoreSettings(
                lease,
                base.commandTimeout(),
                base.recheck(),
                base.window(),
                base.handOverSlice(),
                linger,
                release,
                base.maxWaiters(),
                base.maxKeys());
    }
}
