package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.UnlimitedPermits;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration for {@code distributed-permit.enabled=false}: a bean {@link Permits} without limits, so that what
 * injects it starts and goes on as annotated methods do.
 */
@AutoConfiguration
@Conditional(DistributedPermitDisabledAutoConfiguration.NotEnabled.class)
@Import(LimitedExecutors.class)
public final class DistributedPermitDisabledAutoConfiguration {

    private static final Log log = LogFactory.getLog(DistributedPermitDisabledAutoConfiguration.class);

    @Bean
    @ConditionalOnMissingBean(Permits.class)
    UnlimitedPermits distributedPermitUnlimitedPermits(Environment environment) {
        // A value that is neither true nor false must not switch all limits off: binding it stops the start.
        Binder.get(environment).bind("distributed-permit.enabled", Boolean.class);
        new FrozenSettings(environment).checkDisabled();
        log.warn("distributed-permit.enabled is false: no call is limited, neither by @DistributedPermit nor in code");
        return new UnlimitedPermits();
    }

    /** Whatever switches the other auto-configurations off, such as {@code off}, must have an effect here. */
    static final class NotEnabled extends NoneNestedConditions {

        NotEnabled() {
            super(ConfigurationPhase.PARSE_CONFIGURATION);
        }

        @ConditionalOnBooleanProperty(name = "distributed-permit.enabled", matchIfMissing = true)
        static final class Enabled {}
    }
}
