package io.github.distributedpermit.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.cloud.context.scope.refresh.RefreshScopeRefreshedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Applies changed settings when Spring Cloud has changed the environment, or has refreshed its scope. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(EnvironmentChangeEvent.class)
class SpringCloudRefreshConfiguration {

    @Bean
    ApplicationListener<EnvironmentChangeEvent> distributedPermitEnvironmentListener(
            ObjectProvider<PermitSettingsRefresh> refresh) {
        return new OnEnvironmentChange(refresh);
    }

    @Bean
    ApplicationListener<RefreshScopeRefreshedEvent> distributedPermitScopeListener(
            ObjectProvider<PermitSettingsRefresh> refresh) {
        return new OnScopeRefresh(refresh);
    }

    private record OnEnvironmentChange(ObjectProvider<PermitSettingsRefresh> refresh)
            implements ApplicationListener<EnvironmentChangeEvent> {

        @Override
        public void onApplicationEvent(EnvironmentChangeEvent event) {
            refresh.ifAvailable(settings -> settings.refresh(event.getKeys()));
        }
    }

    private record OnScopeRefresh(ObjectProvider<PermitSettingsRefresh> refresh)
            implements ApplicationListener<RefreshScopeRefreshedEvent> {

        @Override
        public void onApplicationEvent(RefreshScopeRefreshedEvent event) {
            refresh.ifAvailable(PermitSettingsRefresh::refresh);
        }
    }
}
