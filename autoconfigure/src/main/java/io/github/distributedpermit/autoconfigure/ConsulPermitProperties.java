package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.consul.ConsulLayout;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings under {@code distributed-permit.consul}. Where Consul is, {@code spring.cloud.consul.*} says.
 *
 * @param layout How permits lie in Consul. All members that share a key use the same layout.
 * @param token ACL token. By default the one of Consul discovery: spring.cloud.consul.discovery.acl-token,
 *     spring.cloud.consul.token or consul.token. White space around it is no part of it. A
 *     rotated token is used as soon as the environment has it.
 */
@ConfigurationProperties("distributed-permit.consul")
public record ConsulPermitProperties(
        @DefaultValue("slots") ConsulLayout layout,
        @Nullable String token) {

    /** Says nothing of the token. */
    @Override
    public String toString() {
        return "ConsulPermitProperties[layout=%s]".formatted(layout);
    }
}
