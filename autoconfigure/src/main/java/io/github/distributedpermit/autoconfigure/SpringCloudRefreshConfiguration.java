package io.github.distributedpermit.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.cloud.context.scope.refresh.RefreshScopeRefreshedEvent;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** Applies changed settings when Spring Cloud has changed the environment, or has refreshed its scope. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(EnvironmentChangeEvent.class)
class SpringCloudRefreshConfiguration {

    private final ObjectProvider<PermitSettingsRefresh> refresh;

    SpringCloudRefreshConfiguration(ObjectProvider<PermitSettingsRefresh> refresh) {
        this.refresh = refresh;
    }

    @EventListener
    void changed(EnvironmentChangeEvent event) {
        refresh.ifAvailable(settings -> settings.refresh(event.getKeys()));
    }

    @EventListener(RefreshScopeRefreshedEvent.class)
    void refreshed() {
        refresh.ifAvailable(PermitSettingsRefresh::refresh);
    }
}
