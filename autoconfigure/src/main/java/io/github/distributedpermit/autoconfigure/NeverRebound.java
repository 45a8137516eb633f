package io.github.distributedpermit.autoconfigure;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Excludes the library's properties from Spring Cloud's rebinding, which cannot rebind records and warns of each of them at
 * every refresh. {@link PermitSettingsRefresh} reads changed settings instead. Runs after the configuration files are read,
 * and adds to what the application excludes.
 */
final class NeverRebound implements EnvironmentPostProcessor, Ordered {

    private static final String PROPERTY = "spring.cloud.refresh.never-refreshable";
    private static final String DEFAULT_OF_SPRING_CLOUD = "com.zaxxer.hikari.HikariDataSource";
    private static final String SOURCE = "distributed-permit without rebinding";

    private static final List<Class<?>> OURS = List.of(DistributedPermitProperties.class, JdbcPermitProperties.class);

    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
        if (!ClassUtils.isPresent(
                "org.springframework.cloud.context.properties.ConfigurationPropertiesRebinder",
                application.getClassLoader())) {
            return;
        }
        Set<String> excluded = new LinkedHashSet<>(
                StringUtils.commaDelimitedListToSet(environment.getProperty(PROPERTY, DEFAULT_OF_SPRING_CLOUD)));
        OURS.forEach(each -> excluded.add(each.getName()));
        environment.getPropertySources().remove(SOURCE);
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource(SOURCE, Map.of(PROPERTY, String.join(",", excluded))));
    }
}
