package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.engine.PermitEngine;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tuple;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.consul.ConsulAutoConfiguration;

/** Any combination of settings either works, or stops the start with words that name one of them, and no secret. */
class SettingsPropertyTest {

    private static final String CANARY = "canary-secret";
    private static final List<String> DURATIONS = List.of(
            "0s",
            "-1s",
            "1ms",
            "100ms",
            "2s",
            "6s",
            "15s",
            "1h",
            "400d",
            "9223372036854775807s",
            "soon",
            "15",
            "PT20S");
    private static final List<String> COUNTS =
            List.of("0", "-1", "1", "4", "1000000", "1000001", "2147483648", "many", "1.5");
    private static final List<String> SWITCHES = List.of("true", "false", "perhaps");
    private static final List<String> RELEASES = List.of("sync", "ASYNC", "later");
    private static final Map<String, List<String>> GENERAL = generalOnes();
    private static final Map<String, List<String>> OF_STORES = Map.of(
            "distributed-permit.backend", List.of("redis", "consul", "zookeeper", "etcd"),
            "distributed-permit.consul.layout", List.of("slots", "lock-file", "heap"),
            "distributed-permit.lease", DURATIONS,
            "distributed-permit.zookeeper.connect-string", List.of("127.0.0.1:1", "a:b", " "),
            "distributed-permit.key-prefix", GENERAL.getOrDefault("distributed-permit.key-prefix", List.of()));

    private static Map<String, List<String>> generalOnes() {
        Map<String, List<String>> all = new HashMap<>();
        for (String name : List.of("lease", "defaults.store-timeout", "defaults.linger")) {
            all.put("distributed-permit." + name, DURATIONS);
        }
        for (String name : List.of("timeout", "store-timeout", "linger")) {
            all.put("distributed-permit.permits.export." + name, DURATIONS);
        }
        for (String name : List.of("defaults.max-waiting", "permits.export.max-waiting", "permits.export.limit")) {
            all.put("distributed-permit." + name, COUNTS);
        }
        all.put("distributed-permit.fail-fast", SWITCHES);
        all.put("distributed-permit.permits.export.block", SWITCHES);
        all.put("distributed-permit.defaults.release", RELEASES);
        all.put("distributed-permit.permits.export.release", RELEASES);
        all.put(
                "distributed-permit.key-prefix",
                List.of("apps", "a{b}", "a b", "", "/", "a//b", "a:b", "x".repeat(101)));
        return all;
    }

    @Property(tries = 60, shrinking = ShrinkingMode.OFF)
    void applicationWorksOrSaysWhichSettingIsWrong(@ForAll("general") Map<String, String> settings) {
        Starts.local()
                .withBean(Service.class)
                .withInitializer(c -> TestPropertyValues.of(settings).applyTo(c))
                .run(context -> {
                    if (explained(context, settings)) {
                        return;
                    }
                    context.getBean(Service.class).export();
                    Optional<Permit> permit = context.getBean(Permits.class).tryAcquire("export");
                    assertThat(permit).isPresent();
                    permit.get().release();
                });
    }

    /** None of the stores is there. */
    @Property(tries = 25, shrinking = ShrinkingMode.OFF)
    void applicationStartsWithoutItsStoreOrSaysWhichSettingIsWrong(@ForAll("ofStores") Map<String, String> settings) {
        away().withInitializer(c -> TestPropertyValues.of(settings).applyTo(c)).run(context -> {
            if (!explained(context, settings)) {
                assertThat(context).hasSingleBean(PermitEngine.class);
            }
        });
    }

    /** Where nothing listens, and with secrets that must not be told. */
    private static ApplicationContextRunner away() {
        return Starts.plain()
                .withConfiguration(
                        AutoConfigurations.of(DataRedisAutoConfiguration.class, ConsulAutoConfiguration.class))
                .withPropertyValues(
                        "distributed-permit.backend=zookeeper",
                        "distributed-permit.zookeeper.connect-string=127.0.0.1:1",
                        "distributed-permit.consul.token=" + CANARY,
                        "spring.cloud.consul.port=1",
                        "spring.data.redis.port=1",
                        "spring.data.redis.password=" + CANARY);
    }

    /** Whether it did not start; then the failure analysis has to name a setting that was given. */
    private static boolean explained(AssertableApplicationContext context, Map<String, String> settings) {
        Throwable failure = context.getStartupFailure();
        if (failure == null) {
            return false;
        }
        FailureAnalysis analysis = Starts.explain(failure);
        String told = analysis.getDescription() + "\n" + analysis.getAction();
        assertThat(settings.keySet()).as(told).anyMatch(told::contains);
        assertThat(told).doesNotContain(CANARY);
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        assertThat(trace.toString()).doesNotContain(CANARY);
        return true;
    }

    @Provide
    Arbitrary<Map<String, String>> general() {
        return someOf(GENERAL, 3);
    }

    @Provide
    Arbitrary<Map<String, String>> ofStores() {
        return someOf(OF_STORES, 4);
    }

    private static Arbitrary<Map<String, String>> someOf(Map<String, List<String>> all, int most) {
        return Arbitraries.of(all.keySet().stream().sorted().toList())
                .flatMap(name ->
                        Arbitraries.of(all.getOrDefault(name, List.of())).map(value -> Tuple.of(name, value)))
                .list()
                .uniqueElements(Tuple.Tuple2::get1)
                .ofMinSize(1)
                .ofMaxSize(most)
                .map(pairs -> {
                    Map<String, String> settings = new HashMap<>();
                    pairs.forEach(pair -> settings.put(pair.get1(), pair.get2()));
                    return settings;
                });
    }

    static class Service {
        @DistributedPermit(key = "export", limit = 2)
        public void export() {}
    }
}
