package io.github.distributedpermit.autoconfigure;

import java.util.Map;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.util.ClassUtils;

/**
 * Consul's client for Spring brings configurations of discovery that stop every application without Spring Cloud's
 * {@code DiscoveryClient} on the classpath. Who wants permits only has no use for them, so that they are off there, unless
 * the application says otherwise. Applications with discovery keep it as it is.
 */
final class ConsulWithoutDiscovery implements EnvironmentPostProcessor {

    private static final String SOURCE = "distributed-permit without discovery";
    private static final Map<String, Object> OFF = Map.of(
            "spring.cloud.discovery.enabled", "false",
            "spring.cloud.consul.discovery.enabled", "false",
            "spring.cloud.service-registry.enabled", "false",
            "spring.cloud.service-registry.auto-registration.enabled", "false",
            "spring.cloud.consul.service-registry.enabled", "false",
            "spring.cloud.consul.discovery.catalog-services-watch.enabled", "false",
            "spring.cloud.consul.discovery.heartbeat.enabled", "false");

    @Override
    public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
        ClassLoader classLoader = application.getClassLoader();
        boolean consul = ClassUtils.isPresent(
                "org.springframework.cloud.consul.discovery.ConsulDiscoveryProperties", classLoader);
        boolean discovery =
                ClassUtils.isPresent("org.springframework.cloud.client.discovery.DiscoveryClient", classLoader);
        if (consul && !discovery) {
            environment.getPropertySources().addLast(new MapPropertySource(SOURCE, OFF));
        }
    }
}
