package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;

/** Names that an application makes of the data of its users: what settings they have, and what they leave behind. */
class RunTimeNamesTest {

    private static final int USERS = 20_000;

    private final ApplicationContextRunner tenants = properties(
                    "distributed-permit.permits[tenant-*].limit",
                    "5",
                    "distributed-permit.permits.tenant-42.limit",
                    "20")
            .withBean(SimpleMeterRegistry.class);

    @ParameterizedTest
    @ValueSource(strings = {"tenant-4-2", "tenant-4/2", "tenant-4 2", "tenant-4_2", "tenant-42-", "tenant--42"})
    void nameThatDiffersFromThatOfTheSettingsHasTheLimitOfThePattern(String name) {
        tenants.run(context -> {
            assertThat(granted(context.getBean(Permits.class), name)).isEqualTo(5);
            assertThat(context.getBean(PermitCatalog.class).find(name))
                    .map(PermitDefinition::limit)
                    .contains(5);
            assertThat(granted(context.getBean(Permits.class), "tenant-42")).isEqualTo(20);
        });
    }

    @Test
    void limitThatCodeSetsAppliesToTheNameAsItIsWritten() {
        tenants.run(context -> {
            Permits permits = context.getBean(Permits.class);
            assertThat(granted(permits, "tenant-7")).isEqualTo(5);
            context.getBean(PermitCatalog.class).changeLimits(Map.of("tenant-7", 9, "tenant-8", 9));
            assertThat(granted(permits, "tenant-7")).isEqualTo(9);
            assertThat(granted(permits, "tenant--7")).isEqualTo(5);
            assertThat(granted(permits, "tenant-8 ")).isEqualTo(5);
        });
    }

    @Test
    void nameInUseDoesNotTakeOverTheSettingsOfASimilarName() {
        tenants.run(context -> {
            PermitEngine engine = context.getBean(PermitEngine.class);
            engine.named("tenant-42");
            Map<String, PermitSettings> changed = new HashMap<>();
            changed.put("tenant-*", PermitSettings.ofLimit(5));
            changed.put("tenant-4-2", PermitSettings.ofLimit(7));
            engine.changeSettings(PermitSettings.NONE, changed);
            assertThat(granted(engine, "tenant-42")).isEqualTo(5);
            assertThat(granted(engine, "tenant-4-2")).isEqualTo(7);
        });
    }

    @Test
    void nameWithoutAPatternIsRefusedAndTheMessageNamesTheSimilarOne() {
        properties("distributed-permit.permits.tenant42.limit", "20").run(context -> {
            Permits permits = context.getBean(Permits.class);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> permits.named("tenant-4 2"))
                    .withMessageContaining("the settings of 'tenant42' apply to this spelling only if an annotation or"
                            + " PermitCatalog.define declares it")
                    .withMessageContaining("set distributed-permit.permits[tenant-4 2].limit");
            assertThat(context.getBean(PermitEngine.class).unusedSettings()).containsExactly("tenant42");
        });
    }

    @Test
    void nameThatTheCodeDeclaresLaterHasTheSameDefinitionAsOneDeclaredBefore() {
        properties("distributed-permit.permits.report-export.limit", "3").run(context -> {
            PermitEngine engine = context.getBean(PermitEngine.class);
            engine.named("report-export");
            engine.define(PermitDefinition.named("report-export", "the test")
                    .timeout(Duration.ofSeconds(7))
                    .build());
            assertThat(engine.find("report-export"))
                    .map(PermitDefinition::timeout)
                    .contains(Duration.ofSeconds(7));
        });
    }

    @Test
    void namesOfUsersLeaveNothingBehind() {
        tenants.withBean(Limited.class).run(context -> {
            PermitEngine engine = context.getBean(PermitEngine.class);
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            engine.tryAcquire("tenant-7").ifPresent(Permit::release);
            engine.tryAcquire("tenant-42").ifPresent(Permit::release);
            int metersBefore = meters.getMeters().size();
            int namesBefore = engine.names().size();
            for (int i = 0; i < USERS; i++) {
                // each of them is 42 in Boot's relaxed form
                String user = "tenant-42"
                        + Integer.toBinaryString(i).replace('0', '-').replace('1', ' ');
                assertThat(engine.find(user)).map(PermitDefinition::limit).contains(5);
                engine.tryAcquire(user).ifPresent(Permit::release);
            }
            assertThat(meters.getMeters()).hasSize(metersBefore);
            assertThat(engine.names()).hasSize(namesBefore);
            await().untilAsserted(() -> {
                System.gc();
                assertThat(engine.keys()).isZero();
                assertThat(engine.definitions()).hasSizeLessThan(10);
                assertThat(engine.gauges()).hasSizeLessThan(10);
            });
        });
    }

    /** How many calls get a permit at once. */
    private static int granted(Permits permits, String name) throws InterruptedException {
        List<Permit> held = new ArrayList<>();
        try {
            while (held.size() < 30) {
                var permit = permits.tryAcquire(name);
                if (permit.isEmpty()) {
                    break;
                }
                held.add(permit.get());
            }
            return held.size();
        } finally {
            held.forEach(Permit::release);
        }
    }

    /** Names with brackets, which withPropertyValues would cut. */
    private static ApplicationContextRunner properties(String... pairs) {
        Map<String, String> properties = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            properties.put(pairs[i], pairs[i + 1]);
        }
        return local().withInitializer(
                        context -> TestPropertyValues.of(properties).applyTo(context));
    }

    static class Limited {
        @DistributedPermit(key = "tenant-42", name = "limited", limit = 20)
        public void call() {}
    }
}
