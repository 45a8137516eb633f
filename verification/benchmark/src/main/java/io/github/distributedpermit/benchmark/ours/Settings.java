package io.github.distributedpermit.benchmark.ours;

import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.Release;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/** The defaults of the properties but for one, written as in {@code application.yml}: {@code linger: 1ms}. */
public final class Settings {

    private Settings() {}

    /** The defaults with this setting. */
    public static CoreSettings of(String setting) {
        String[] parts = setting.split(": ", 2);
        CoreSettings base = CoreSettings.DEFAULTS;
        return switch (parts[0]) {
            case "release" ->
                with(
                        base.lease(),
                        base.handOverSlice(),
                        base.linger(),
                        Release.valueOf(parts[1].toUpperCase(Locale.ROOT)));
            case "linger" ->
                with(base.lease(), base.handOverSlice(), DurationStyle.detectAndParse(parts[1]), base.release());
            case "lease" ->
                with(DurationStyle.detectAndParse(parts[1]), base.handOverSlice(), base.linger(), base.release());
            case "hand-over-slice" ->
                with(base.lease(), DurationStyle.detectAndParse(parts[1]), base.linger(), base.release());
            default -> throw new IllegalArgumentException("The benchmark does not vary " + setting);
        };
    }

    private static CoreSettings with(
            Duration lease, @Nullable Duration handOverSlice, Duration linger, Release release) {
        CoreSettings base = CoreSettings.DEFAULTS;
        return new CoreSettings(
                lease,
                base.commandTimeout(),
                base.storeTimeout(),
                base.recheck(),
                base.window(),
                handOverSlice,
                linger,
                release,
                base.maxWaiters(),
                base.maxKeys());
    }
}
