package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What an IDE reads, as the build has generated it. */
class MetadataTest {

    private final String metadata = read();

    @Test
    void everyPropertyHasADescriptionAndAType() {
        List<Map<String, Object>> properties = JsonPath.read(metadata, "$.properties[*]");
        assertThat(properties).hasSizeGreaterThan(15).allSatisfy(property -> {
            assertThat((String) property.get("description"))
                    .as("%s", property.get("name"))
                    .isNotBlank()
                    .endsWith(".");
            assertThat(property.get("type")).as("%s", property.get("name")).isNotNull();
        });
    }

    @Test
    void everyPropertyIsThere() {
        List<String> names = JsonPath.read(metadata, "$.properties[*].name");
        assertThat(names)
                .containsExactlyInAnyOrder(
                        "distributed-permit.backend",
                        "distributed-permit.consul.layout",
                        "distributed-permit.consul.token",
                        "distributed-permit.defaults.linger",
                        "distributed-permit.defaults.max-waiting",
                        "distributed-permit.defaults.reject-hopeless",
                        "distributed-permit.defaults.on-store-failure",
                        "distributed-permit.defaults.release",
                        "distributed-permit.defaults.store-timeout",
                        "distributed-permit.defaults.timeout",
                        "distributed-permit.enabled",
                        "distributed-permit.executors",
                        "distributed-permit.fail-fast",
                        "distributed-permit.instance-name",
                        "distributed-permit.jdbc.initialize-schema",
                        "distributed-permit.jdbc.table-prefix",
                        "distributed-permit.http",
                        "distributed-permit.key-prefix",
                        "distributed-permit.lease",
                        "distributed-permit.log.long-hold",
                        "distributed-permit.log.long-wait",
                        "distributed-permit.metrics.fleet-refresh",
                        "distributed-permit.permits",
                        "distributed-permit.redis.grace",
                        "distributed-permit.redis.new-server-grace",
                        "distributed-permit.redis.own-connection",
                        "distributed-permit.redis.wait-for-replica",
                        "distributed-permit.zookeeper.connect-string",
                        "management.endpoint.permits.access",
                        "management.endpoint.permits.cache.time-to-live",
                        "management.health.distributed-permit.enabled");
    }

    @Test
    void everyPropertyIsKnownToTheWarningAboutUnknownOnes() {
        List<String> names = JsonPath.read(metadata, "$.properties[*].name");
        assertThat(names.stream()
                        .filter(name -> name.startsWith("distributed-permit."))
                        .map(name -> name.substring("distributed-permit.".length())))
                .isSubsetOf(new KnownSettings().general());
    }

    @Test
    void everyValueOfAnEnumHasAHint() {
        List<String> backends =
                JsonPath.read(metadata, "$.hints[?(@.name=='distributed-permit.backend')].values[*].value");
        assertThat(backends)
                .containsExactlyInAnyOrderElementsOf(
                        List.of(Backend.values()).stream().map(Backend::id).toList());
        List<String> releases =
                JsonPath.read(metadata, "$.hints[?(@.name=='distributed-permit.defaults.release')].values[*].value");
        assertThat(releases).containsExactly("async", "sync");
        List<String> layouts =
                JsonPath.read(metadata, "$.hints[?(@.name=='distributed-permit.consul.layout')].values[*].value");
        assertThat(layouts).containsExactly("slots", "lock-file");
    }

    private static String read() {
        try {
            for (URL each : Collections.list(
                    MetadataTest.class.getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
                try (InputStream in = each.openStream()) {
                    String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                    if (text.contains("\"distributed-permit.backend\"")) {
                        return text;
                    }
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        throw new AssertionError("No metadata of our own on the classpath");
    }
}
