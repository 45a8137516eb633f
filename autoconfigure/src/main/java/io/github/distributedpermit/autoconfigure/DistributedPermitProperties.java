package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Release;
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
 * @param lease How long the store keeps an instance's permits after its last sign of life. At least three command
 *     time-outs.
 * @param commandTimeout How long the store may take to answer.
 * @param storeTimeout How long any call waits for a store that does not answer, before it ends with
 *     PermitBackendException. Further calls then end at once until the store answers. At least the command time-out.
 * @param handOverSlice How long a permit may go round among the calls of one instance while other instances wait. By
 *     default 5 ms; a backend may say otherwise.
 * @param linger How long a released permit may stay with its instance, to save the next call the way to the store. Another
 *     instance that begins to wait meanwhile gets it only after that time. At most 10 ms; zero for not at all.
 * @param release Whether giving back a permit waits for the store's confirmation.
 * @param maxWaiters How many calls of one instance may wait for one key. Further ones are rejected.
 * @param instanceName Name of this instance for people, in health and operators' views. By default
 *     'application@host:pid'.
 * @param failFast Whether the application refuses to start when the store does not answer. Otherwise it starts and its
 *     health is DOWN until the store does.
 * @param defaults Settings for all permits, where neither the settings of the name nor the annotation say anything.
 * @param permits Settings of single permits, by name or by a pattern such as 'permits[tenant-*]'. They win over the annotation's attributes. Names that
 *     an annotation or PermitCatalog.define declares match in Boot's relaxed form, other names as they are written; brackets, such as 'permits[my:name].limit', give a name exactly.
 */
@ConfigurationProperties("distributed-permit")
public record DistributedPermitProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable Backend backend,
        @DefaultValue("distributed-permit") String keyPrefix,
        @DefaultValue("15s") Duration lease,
        @DefaultValue("2s") Duration commandTimeout,
        @DefaultValue("10s") Duration storeTimeout,
        @Nullable Duration handOverSlice,
        @DefaultValue("0s") Duration linger,
        @DefaultValue("async") Release release,
        @DefaultValue("10000") int maxWaiters,
        @Nullable String instanceName,
        @DefaultValue("false") boolean failFast,
        @DefaultValue @NestedConfigurationProperty PermitDefaults defaults,
        @DefaultValue Map<String, PermitSettings> permits) {}
