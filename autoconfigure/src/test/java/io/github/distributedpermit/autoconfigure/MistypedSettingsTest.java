package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.analysis;
import static io.github.distributedpermit.autoconfigure.Starts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.Permits;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.test.util.TestPropertyValues.Type;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

/** Settings in every spelling that Boot has, and what is said of those that nothing uses. */
@ExtendWith(OutputCaptureExtension.class)
class MistypedSettingsTest {

    private static final String UNUSED = "are used by no annotation and no code so far";

    @ParameterizedTest
    @CsvSource({
        "DISTRIBUTED_PERMIT_PERMITS_REPORTEXPORT_LIMIT, report-export",
        "DISTRIBUTEDPERMIT_PERMITS_REPORTEXPORT_LIMIT, report-export",
        "DISTRIBUTED_PERMIT_PERMITS_REPORTEXPORT_LIMIT, reportExport",
        "DISTRIBUTED_PERMIT_PERMITS_TENANTEXPORT_LIMIT, tenant:export",
        "DISTRIBUTED_PERMIT_PERMITS_REPORTSERVICE_EXPORT_LIMIT, ReportService.export",
    })
    void environmentVariableMatchesTheName(String variable, String name) {
        environment(local(), variable, "7")
                .run(context -> assertThat(declared(context.getBean(PermitCatalog.class), name))
                        .isEqualTo(7));
    }

    @ParameterizedTest
    @CsvSource({
        "permits.report-export, report-export",
        "permits.reportExport, report-export",
        "permits.REPORT_EXPORT, report-export",
        "permits.ReportService.export, ReportService.export",
        "permits[ReportService.export], ReportService.export",
        "permits.report-service.export, ReportService.export",
    })
    void propertyMatchesTheName(String property, String name) {
        properties(local(), Map.of("distributed-permit." + property + ".limit", "7"))
                .run(context -> assertThat(declared(context.getBean(PermitCatalog.class), name))
                        .isEqualTo(7));
    }

    @Test
    void settingsOfOneNameComeFromAllSourcesByPrecedence() {
        String variable = "DISTRIBUTED_PERMIT_PERMITS_REPORTEXPORT_LIMIT";
        Map<String, String> file = Map.of(
                "distributed-permit.permits.report-export.limit", "3",
                "distributed-permit.permits.report-export.timeout", "${my.timeout}",
                "my.timeout", "30s");
        ApplicationContextRunner variableBeforeFile = environment(properties(local(), file), variable, "5");
        variableBeforeFile.run(context -> assertLimitAndTimeout(context.getBean(PermitCatalog.class), 5));
        Map<String, Object> commandLine = Map.of("distributed-permit.permits.reportExport.limit", "7");
        variableBeforeFile
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("command line", commandLine)))
                .run(context -> assertLimitAndTimeout(context.getBean(PermitCatalog.class), 7));
    }

    private static void assertLimitAndTimeout(PermitCatalog catalog, int limit) {
        PermitDefinition definition = catalog.find("report-export").orElseThrow();
        assertThat(definition.limit()).isEqualTo(limit);
        assertThat(definition.timeout()).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void twoSpellingsInOneSourceAreTwoPermits() {
        Map<String, String> file = new LinkedHashMap<>();
        file.put("distributed-permit.permits[tenant:export].limit", "3");
        file.put("distributed-permit.permits.tenant-export.limit", "4");
        properties(local(), file).run(context -> {
            PermitCatalog catalog = context.getBean(PermitCatalog.class);
            assertThat(limit(catalog, "tenant:export")).isEqualTo(3);
            assertThat(limit(catalog, "tenant-export")).isEqualTo(4);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"no-limit", "my.name", "Type.method", "tenant:export", "with space"})
    void propertyInAMessageWorksWhenPasted(String name) {
        local().run(context -> assertThatIllegalArgumentException()
                .isThrownBy(() -> context.getBean(Permits.class).acquire(name))
                .satisfies(e -> {
                    String message = String.valueOf(e.getMessage());
                    String property = message.substring(message.indexOf("set ") + 4);
                    properties(local(), Map.of(property, "1")).run(other -> {
                        try (var permit = other.getBean(Permits.class).acquire(name)) {
                            assertThat(permit.isHeld()).isTrue();
                        }
                    });
                }));
    }

    @Test
    void wrongValueInAnEnvironmentVariableStopsTheStartByAName() {
        assertThat(analysis(environment(local(), "DISTRIBUTED_PERMIT_PERMITS_REPORTEXPORT_LIMIT", "many"))
                        .getDescription())
                .containsIgnoringCase("distributed-permit.permits.reportexport.limit")
                .contains("many");
        assertThat(analysis(environment(local(), "DISTRIBUTED_PERMIT_PERMITS_REPORTEXPORT_LIMIT", "0"))
                        .getDescription())
                .containsIgnoringCase("distributed-permit.permits.reportexport.limit")
                .contains("1 to 1000000");
    }

    @Test
    void unusedSettingsAreWarnedAboutOnceWithTheNearestName(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(
                "distributed-permit.permits.report-exprot.limit=3",
                "distributed-permit.permits.report-export.limit=3",
                "distributed-permit.permits.used-by-code.limit=3",
                "distributed-permit.permits.lazy.limit=3",
                "distributed-permit.permits.other.limit=3")) {
            assertThat(output.getOut().split(UNUSED, -1)).hasSize(3);
            assertThat(output)
                    .contains(
                            "'report-exprot' (such as distributed-permit.permits.report-exprot.limit) " + UNUSED
                                    + ". If no code uses them later, correct the name (did you mean distributed-permit.permits.report-export.limit?)")
                    .contains("'other' (such as distributed-permit.permits.other.limit) " + UNUSED
                            + ". If no code uses them later, correct the name, or remove them");
        }
    }

    @Test
    void settingsThatAreUsedAreNotWarnedAbout(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(
                "distributed-permit.permits.reportExport.limit=3",
                "distributed-permit.permits.used-by-code.limit=3",
                "distributed-permit.permits.lazy.timeout=3s")) {
            assertThat(output).doesNotContain(UNUSED);
        }
    }

    @Test
    void settingThatPermitsDoNotHaveIsWarnedAbout(CapturedOutput output) {
        local().withPropertyValues("distributed-permit.permits.report-export.limt=3")
                .run(context -> assertThat(output)
                        .contains("'distributed-permit.permits.report-export.limt' has no effect")
                        .contains("did you mean distributed-permit.permits.report-export.limit?"));
    }

    @ParameterizedTest
    @CsvSource({
        "distributed-permit.defaults.store-timout, distributed-permit.defaults.store-timeout",
        "distributed-permit.store-timeout, distributed-permit.defaults.store-timeout",
        "distributed-permit.store-timout, distributed-permit.defaults.store-timeout",
        "distributed-permit.redis.wait-for-replicas, distributed-permit.redis.wait-for-replica",
        "distributed-permit.redsi.grace, distributed-permit.redis.grace",
        "distributed-permit.permit.now.limit, distributed-permit.permits.now.limit",
        "distributed-permit.permit.now.limt, distributed-permit.permits.now.limit",
        "distributed-permit.defaults.limits, distributed-permit.permits.<name>.limit",
        "distributed-permit.timeout, distributed-permit.defaults.timeout",
        "distributed-permit.limit, distributed-permit.permits.<name>.limit",
    })
    void settingThatDoesNotExistIsWarnedAboutWithTheNearestName(String name, String nearest, CapturedOutput output) {
        properties(local(), Map.of(name, "3"))
                .run(context -> assertThat(output)
                        .contains("'" + name + "' has no effect: there is no such setting; did you mean " + nearest
                                + "?"));
    }

    @ParameterizedTest
    @CsvSource({
        "DISTRIBUTED_PERMIT_DEFAULTS_STORE_TIMOUT, distributed-permit.defaults.store-timeout",
        "DISTRIBUTED_PERMIT_DEFAULTS_MAXWAITNG, distributed-permit.defaults.max-waiting",
        "DISTRIBUTEDPERMIT_REDIS_WAITFORREPLICAS, distributed-permit.redis.wait-for-replica",
        "DISTRIBUTED_PERMIT_REDIS_WAIT_FOR_REPLICAS, distributed-permit.redis.wait-for-replica",
        "DISTRIBUTED_PERMIT_PERMIT_NOW_LIMIT, distributed-permit.permits.now.limit",
    })
    void environmentVariableThatDoesNotExistIsWarnedAboutWithTheNearestName(
            String name, String nearest, CapturedOutput output) {
        environment(local(), name, "3")
                .run(context -> assertThat(output)
                        .contains("has no effect: there is no such setting; did you mean " + nearest + "?"));
    }

    @Test
    void settingLikeNoOtherIsWarnedAbout(CapturedOutput output) {
        local().withPropertyValues("distributed-permit.speed.warp=9")
                .run(context -> assertThat(output)
                        .contains("'distributed-permit.speed.warp' has no effect: there is no such setting. Correct"));
    }

    @Test
    void connectionIsSaidToBeSetElsewhere(CapturedOutput output) {
        local().withPropertyValues("distributed-permit.redis.host=localhost")
                .run(context -> assertThat(output)
                        .contains("'distributed-permit.redis.host' has no effect", "that of spring.data.redis.*"));
    }

    @Test
    void settingsThatExistAreNotWarnedAbout(CapturedOutput output) {
        Map<String, String> all = new LinkedHashMap<>();
        new KnownSettings().general().forEach(name -> all.put("distributed-permit." + name, ""));
        all.put("distributed-permit.redis", "");
        all.put("distributed-permit.permits", "");
        all.put("distributed-permit.permits.now", "");
        ConfigurableEnvironment environment = environmentOf(
                all,
                Map.of(
                        "DISTRIBUTED_PERMIT_REDIS_WAIT_FOR_REPLICA", "true",
                        "DISTRIBUTED_PERMIT_REDIS_WAITFORREPLICA", "true",
                        "DISTRIBUTED_PERMIT_PERMITS_NOW_LIMIT", "3",
                        // of a Kubernetes service
                        "DISTRIBUTED_PERMIT_SERVICE_HOST", "10.0.0.1",
                        "DISTRIBUTED_PERMIT_PORT_6379_TCP_PORT", "6379"));
        new SettingsWarnings(environment).check(new PermitPropertyScan(environment));
        assertThat(output).doesNotContain("has no effect");
    }

    @Test
    void durationBelowASecondWithoutAUnitIsWarnedAbout(CapturedOutput output) {
        environment(local(), "DISTRIBUTED_PERMIT_PERMITS_REPORTEXPORT_TIMEOUT", "30")
                .withPropertyValues(
                        "my.linger=4",
                        "distributed-permit.defaults.linger=${my.linger}",
                        "distributed-permit.log.long-wait=0",
                        "distributed-permit.defaults.store-timeout=10000",
                        "distributed-permit.defaults.max-waiting=5")
                .withBean(TimeoutWithoutUnit.class)
                .run(context -> {
                    assertThat(output.getOut().split("without a unit|has no unit", -1))
                            .hasSize(4);
                    assertThat(output)
                            .contains("distributed-permit.defaults.linger=4ms, or 4s")
                            .containsIgnoringCase("distributed-permit.permits.reportexport.timeout=30ms")
                            .contains("TimeoutWithoutUnit.call(): timeout '20'");
                });
    }

    private static ConfigurableEnvironment environmentOf(
            Map<String, String> properties, Map<String, String> variables) {
        ConfigurableEnvironment environment = new StandardEnvironment();
        TestPropertyValues.of(properties).applyTo(environment);
        TestPropertyValues.of(variables).applyTo(environment, Type.SYSTEM_ENVIRONMENT);
        return environment;
    }

    private static ApplicationContextRunner environment(
            ApplicationContextRunner runner, String variable, String value) {
        return runner.withInitializer(context -> TestPropertyValues.of(Map.of(variable, value))
                .applyTo(context.getEnvironment(), Type.SYSTEM_ENVIRONMENT));
    }

    /** Names with colons and dots, which withPropertyValues would cut. */
    private static ApplicationContextRunner properties(
            ApplicationContextRunner runner, Map<String, String> properties) {
        return runner.withInitializer(
                context -> TestPropertyValues.of(properties).applyTo(context));
    }

    /** The limit of a name that the code declares without one. */
    private static int declared(PermitCatalog catalog, String name) {
        catalog.define(PermitDefinition.named(name, "the test").build());
        return limit(catalog, name);
    }

    private static int limit(PermitCatalog catalog, String name) {
        Integer limit = catalog.find(name).orElseThrow().limit();
        return limit == null ? 0 : limit;
    }

    private static ConfigurableApplicationContext start(String... properties) {
        SpringApplication application = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .build();
        return application.run(Stream.concat(Stream.of("distributed-permit.backend=local"), Stream.of(properties))
                .map(property -> "--" + property)
                .toArray(String[]::new));
    }

    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        PropertyPlaceholderAutoConfiguration.class,
        DistributedPermitAutoConfiguration.class
    })
    @Import({Limited.class, LazyLimited.class})
    static class Application {
        Application(Permits permits) {
            permits.named("used-by-code");
        }
    }

    static class Limited {
        @DistributedPermit(key = "report-export", limit = 3)
        public void call() {}
    }

    @Lazy
    static class LazyLimited {
        @DistributedPermit(key = "lazy", limit = 3)
        public void call() {}
    }

    static class TimeoutWithoutUnit {
        @DistributedPermit(limit = 1, timeout = "20")
        public void call() {}
    }
}
