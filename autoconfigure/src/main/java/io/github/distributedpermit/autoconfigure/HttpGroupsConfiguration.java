package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.http.PermitExchangeFilter;
import io.github.distributedpermit.http.PermitRequestInterceptor;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.web.client.support.RestClientHttpServiceGroupConfigurer;
import org.springframework.web.reactive.function.client.support.WebClientHttpServiceGroupConfigurer;
import org.springframework.web.service.registry.HttpServiceProxyRegistry;

/** Limits the requests of HTTP service groups, by {@code distributed-permit.http}. Their clients may be made before the store's client. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(HttpServiceProxyRegistry.class)
class HttpGroupsConfiguration {

    private static final String PROPERTY = "distributed-permit.http.";

    /** Checks what is set, once all beans that declare permits are made. */
    @Bean
    static SmartInitializingSingleton distributedPermitHttpGroupsCheck(
            DistributedPermitProperties properties,
            ObjectProvider<HttpServiceProxyRegistry> registries,
            ObjectProvider<PermitCatalog> catalogs) {
        return () -> {
            if (!properties.http().isEmpty()) {
                Set<String> groups = new TreeSet<>();
                registries.forEach(registry -> groups.addAll(registry.getGroupNames()));
                properties.http().forEach((group, permit) -> check(group, permit, groups, catalogs));
            }
        };
    }

    private static void check(String group, String permit, Set<String> groups, ObjectProvider<PermitCatalog> catalogs) {
        if (!groups.contains(group)) {
            throw new InvalidConfigurationPropertyValueException(
                    PROPERTY + group,
                    permit,
                    "No HTTP service group has that name; there are %s. Correct it, or declare the group with @ImportHttpServices"
                            .formatted(groups));
        }
        catalogs.ifAvailable(catalog -> {
            if (catalog.find(permit).isEmpty()) {
                throw new InvalidConfigurationPropertyValueException(
                        PROPERTY + group,
                        permit,
                        "No permit has that name. Set distributed-permit.permits.%s.limit".formatted(permit));
            }
        });
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(RestClientHttpServiceGroupConfigurer.class)
    static class RestClients {

        @Bean
        RestClientHttpServiceGroupConfigurer distributedPermitRestClientGroups(
                DistributedPermitProperties properties, @Lazy Permits permits) {
            return groups -> properties
                    .http()
                    .forEach((group, permit) -> groups.filterByName(group)
                            .forEachClient((of, client) ->
                                    client.requestInterceptor(new PermitRequestInterceptor(permits, permit))));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(WebClientHttpServiceGroupConfigurer.class)
    static class WebClients {

        @Bean
        WebClientHttpServiceGroupConfigurer distributedPermitWebClientGroups(
                DistributedPermitProperties properties, @Lazy Permits permits) {
            return groups -> properties
                    .http()
                    .forEach((group, permit) -> groups.filterByName(group)
                            .forEachClient((of, client) -> client.filter(new PermitExchangeFilter(permits, permit))));
        }
    }
}
