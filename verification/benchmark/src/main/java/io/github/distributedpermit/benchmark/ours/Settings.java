package io.github.distributedpermit.benchmark.ours;

import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Release;
import java.util.Locale;
import org.springframework.boot.convert.DurationStyle;

/** The defaults of the properties but for one, written as in {@code application.yml}: {@code linger: 1ms}. */
public final class Settings {

    private Settings() {}

    /** The defaults with this setting. */
    public static CoreSettings of(String setting) {
        String[] parts = setting.split(": ", 2);
        CoreSettings.Builder settings = CoreSettings.DEFAULTS.toBuilder();
        switch (parts[0]) {
            case "release" ->
                settings.permits(PermitSettings.builder()
                        .release(Release.valueOf(parts[1].toUpperCase(Locale.ROOT)))
                        .build());
            case "linger" ->
                settings.permits(PermitSettings.builder()
                        .linger(DurationStyle.detectAndParse(parts[1]))
                        .build());
            case "lease" -> settings.lease(DurationStyle.detectAndParse(parts[1]));
            case "hand-over-slice" -> settings.handOverSlice(DurationStyle.detectAndParse(parts[1]));
            default -> throw new IllegalArgumentException("The benchmark does not vary " + setting);
        }
        return settings.build();
    }
}
