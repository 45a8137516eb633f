package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.backend.consul.ConsulPermitBackend;
import io.github.distributedpermit.backend.consul.ConsulSettings;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.spi.PermitBackend;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.cloud.consul.ConsulProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Consul, where {@code spring.cloud.consul.*} says that it is. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ConsulProperties.class)
@ConditionalOnBackend(Backend.CONSUL)
@ConditionalOnMissingBean(PermitBackend.class)
class ConsulBackendConfiguration {

    /** Properties with the ACL token; the first that is set counts. The others are those of Consul discovery. */
    private static final List<String> TOKENS = List.of(
            "distributed-permit.consul.token",
            "spring.cloud.consul.discovery.acl-token",
            "spring.cloud.consul.token",
            "consul.token",
            "CONSUL_TOKEN");

    @Bean
    ConsulPermitBackend consulPermitBackend(
            ObjectProvider<ConsulProperties> connection,
            DistributedPermitProperties properties,
            CoreSettings core,
            Environment environment) {
        ConsulProperties where = connection.getIfAvailable(() -> {
            throw new UnusableBackendException(
                    "Permits are to live in Consul, but spring.cloud.consul.enabled is false",
                    "Set spring.cloud.consul.enabled=true, or another distributed-permit.backend");
        });
        return new ConsulPermitBackend(settings(
                address(where), () -> token(environment), ConsulTls.context(where), properties, core.commandTimeout()));
    }

    private static ConsulSettings settings(
            URI address,
            Supplier<Optional<String>> token,
            Optional<SSLContext> tls,
            DistributedPermitProperties properties,
            Duration commandTimeout) {
        Duration ttl = sessionTtl(new SettingsReader(properties).lease());
        try {
            return new ConsulSettings(
                    address,
                    token,
                    tls,
                    new SettingsReader(properties).keyPrefix(),
                    properties.consul().layout(),
                    ttl,
                    commandTimeout);
        } catch (IllegalArgumentException e) {
            throw new UnusableBackendException(
                    String.valueOf(e.getMessage()),
                    "Correct spring.cloud.consul.host, .port, .scheme and .path, distributed-permit.key-prefix, or distributed-permit.consul.token"
                            + " and what stands in for it");
        }
    }

    /** What is declared when all beans are there; a limit that comes later fails at its first call. */
    @Bean
    SmartInitializingSingleton consulLimits(ObjectProvider<PermitCatalog> catalogs) {
        return () -> catalogs.ifAvailable(ConsulBackendConfiguration::checkLimits);
    }

    private static void checkLimits(PermitCatalog catalog) {
        catalog.definitions().forEach(definition -> {
            Integer limit = definition.limit();
            if (limit != null && limit < PermitDefinition.PER_CALL && limit > ConsulPermitBackend.MAX_LIMIT) {
                throw new UnusableBackendException(
                        "Permit '%s' (%s) has limit %d, but a key in Consul has at most %d permits"
                                .formatted(
                                        definition.name(), definition.origin(), limit, ConsulPermitBackend.MAX_LIMIT),
                        "Lower it, split the key, or use another backend");
            }
        });
    }

    private static Duration sessionTtl(Duration lease) {
        if (lease.compareTo(ConsulSettings.SHORTEST_TTL) < 0 || lease.compareTo(ConsulSettings.LONGEST_TTL) > 0) {
            throw new InvalidConfigurationPropertyValueException(
                    "distributed-permit.lease",
                    lease,
                    "with Consul it is the TTL of a session, and Consul takes none below 10 seconds or above 24 hours");
        }
        return lease;
    }

    private static URI address(ConsulProperties where) {
        String scheme = StringUtils.hasText(where.getScheme()) ? where.getScheme() : "http";
        String path = StringUtils.hasText(where.getPath()) ? where.getPath() : "";
        try {
            String absolute = path.isEmpty() || path.startsWith("/") ? path : "/" + path;
            return new URI(scheme, null, where.getHost(), where.getPort(), absolute, null, null);
        } catch (URISyntaxException e) {
            throw new UnusableBackendException(
                    // its message quotes all of it, and people write passwords into addresses
                    "Consul's address makes no sense: " + e.getReason(),
                    "Correct spring.cloud.consul.host, .port, .scheme and .path");
        }
    }

    /** Read for each request, so that a token is used as soon as the environment has it, whatever has changed it there. */
    private static Optional<String> token(Environment environment) {
        return TOKENS.stream()
                .flatMap(name -> Stream.ofNullable(environment.getProperty(name)))
                .filter(StringUtils::hasText)
                .findFirst();
    }
}
