package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.CoreSettings;
import java.time.Duration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** Gives an application another command time-out than the one that follows from its settings, such as for a slow machine. */
public final class CommandTimeout implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    private static final String NAME = "coreSettings";

    private final Duration timeout;

    private CommandTimeout(Duration timeout) {
        this.timeout = timeout;
    }

    public static CommandTimeout ofSeconds(int seconds) {
        return new CommandTimeout(Duration.ofSeconds(seconds));
    }

    public static CommandTimeout ofMillis(int millis) {
        return new CommandTimeout(Duration.ofMillis(millis));
    }

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        GenericApplicationContext beans = (GenericApplicationContext) context;
        if (beans.containsBeanDefinition(NAME)) { // the last one counts
            beans.removeBeanDefinition(NAME);
        }
        beans.registerBean(
                NAME,
                CoreSettings.class,
                () -> new SettingsReader(context.getBean(DistributedPermitProperties.class))
                        .core(context.getBean(NamedSettings.class)).toBuilder()
                                .commandTimeout(timeout)
                                .build());
    }
}
