package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.PermitSettings;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings under {@code distributed-permit}.
 *
 * @param enabled Whether permits are taken at all. When false, annotated methods run without a limit, and so does code that
 *     uses the Permits bean.
 * @param backend Store of the permits. By default the only one whose client is on the classpath; 'local' has to be asked
 *     for.
 * @param keyPrefix What the names of all keys in the store begin with. Applications with the same prefix and store share
 *     their permits.
 * @param lease How long an instance's permits outlive its last sign of life, with Redis, a database and in memory; in Consul and
 *     ZooKeeper the length of its session. Consul takes 10 s to 24 h, and up to twice as long to
 *     end a session; ZooKeeper's servers keep it between 2 and 20 of their ticks.
 * @param instanceName Name of this instance for people, in health and operators' views. By default
 *     'application@host:pid'.
 * @param failFast Whether the application refuses to start when the store does not answer. Otherwise it starts and its
 *     health is DOWN until the store does.
 * @param defaults Settings for all permits, where neither the settings of the name nor the annotation say anything.
 * @param permits Settings of single permits, by name or by a pattern such as 'permits[tenant-*]'. They win over the annotation's attributes. Names that
 *     an annotation or PermitCatalog.define declares match in Boot's relaxed form, other names as they are written; brackets, such as 'permits[my:name].limit', give a name exactly.
 * @param http Permits of outgoing requests: for each HTTP service group, such as 'http.partner', the name of the permit that each of its requests takes.
 * @param executors Executor beans whose tasks take a permit each and run on Spring Boot's applicationTaskExecutor: for each name of a bean, such as
 *     'executors.exports', the name of the permit.
 */
@ConfigurationProperties("distributed-permit")
public record DistributedPermitProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable Backend backend,
        @DefaultValue("distributed-permit") String keyPrefix,
        @DefaultValue("15s") Duration lease,
        @Nullable String instanceName,
        @DefaultValue("false") boolean failFast,
        @DefaultValue @NestedConfigurationProperty PermitSettings defaults,
        @DefaultValue Map<String, PermitSettings> permits,
        @DefaultValue Map<String, String> http,
        @DefaultValue Map<String, String> executors) {}
