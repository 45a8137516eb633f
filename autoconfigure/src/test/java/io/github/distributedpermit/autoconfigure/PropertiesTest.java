package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.analysis;
import static io.github.distributedpermit.autoconfigure.Starts.local;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Release;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.spi.Member;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.util.TestPropertyValues;

class PropertiesTest {

    @Test
    void defaultsAreThoseOfTheProtocol() {
        local().run(context -> {
            DistributedPermitProperties properties = context.getBean(DistributedPermitProperties.class);
            assertThat(context.getBean(CoreSettings.class)).isEqualTo(CoreSettings.DEFAULTS);
            assertThat(properties.keyPrefix()).isEqualTo("distributed-permit");
            assertThat(properties.failFast()).isFalse();
            assertThat(properties.permits()).isEmpty();
        });
    }

    @Test
    void everySettingIsBound() {
        local().withPropertyValues(
                        "distributed-permit.lease=30s",
                        "distributed-permit.defaults.store-timeout=9s",
                        "distributed-permit.defaults.linger=1ms",
                        "distributed-permit.defaults.release=sync",
                        "distributed-permit.defaults.max-waiting=10",
                        "distributed-permit.defaults.reject-hopeless=true",
                        "distributed-permit.permits.report-export.limit=3",
                        "distributed-permit.permits.report-export.block=false",
                        "distributed-permit.permits.report-export.timeout=30s",
                        "distributed-permit.permits.report-export.store-timeout=8s",
                        "distributed-permit.permits.report-export.linger=2ms",
                        "distributed-permit.permits.report-export.release=async",
                        "distributed-permit.permits.report-export.max-waiting=7",
                        "distributed-permit.permits.report-export.reject-hopeless=false")
                .run(context -> {
                    DistributedPermitProperties bound = context.getBean(DistributedPermitProperties.class);
                    SettingsReader reader = new SettingsReader(bound);
                    assertThat(reader.core(context.getBean(NamedSettings.class)))
                            .isEqualTo(CoreSettings.DEFAULTS.toBuilder()
                                    .lease(Duration.ofSeconds(30))
                                    .build());
                    assertThat(reader.defaults(bound.defaults()))
                            .isEqualTo(PermitSettings.builder()
                                    .storeTimeout(Duration.ofSeconds(9))
                                    .linger(Duration.ofMillis(1))
                                    .release(Release.SYNC)
                                    .maxWaiting(10)
                                    .rejectHopeless(true)
                                    .build());
                    assertThat(reader.named(bound.permits()))
                            .containsOnlyKeys("report-export")
                            .containsEntry(
                                    "report-export",
                                    PermitSettings.builder()
                                            .limit(3)
                                            .block(false)
                                            .timeout(Duration.ofSeconds(30))
                                            .storeTimeout(Duration.ofSeconds(8))
                                            .linger(Duration.ofMillis(2))
                                            .release(Release.ASYNC)
                                            .maxWaiting(7)
                                            .rejectHopeless(false)
                                            .build());
                });
    }

    @ParameterizedTest
    @CsvSource({
        "15s, 10s, , 2s",
        "3s, 10s, , 1s",
        "15s, 1s, , 1s",
        "15s, 10s, 500ms, 500ms",
        "15s, 20s, , 4s",
        "15s, 5m, , 5s",
        "1h, 1m, , 12s",
        "1h, 1m, 3s, 3s",
        "100ms, 10ms, , 10ms",
    })
    void answersMayTakeAPartOfTheLeaseAndOfEachStoreTimeout(
            String lease, String store, @Nullable String ofName, String answer) {
        local().withPropertyValues(
                        "distributed-permit.lease=" + lease, "distributed-permit.defaults.store-timeout=" + store)
                .withPropertyValues(
                        ofName == null
                                ? new String[0]
                                : new String[] {"distributed-permit.permits.x.store-timeout=" + ofName})
                .run(context -> assertThat(context.getBean(CoreSettings.class).commandTimeout())
                        .isEqualTo(DurationStyle.detectAndParse(answer)));
    }

    @Test
    void namesWithDotsAndColonsGoInBrackets() {
        Map<String, String> properties = Map.of(
                "distributed-permit.permits[ReportService.export].limit", "3",
                "distributed-permit.permits[tenant:export].limit", "4");
        local().withInitializer(context -> TestPropertyValues.of(properties).applyTo(context))
                .run(context -> {
                    PermitCatalog catalog = context.getBean(PermitCatalog.class);
                    assertThat(catalog.find("ReportService.export")
                                    .orElseThrow()
                                    .limit())
                            .isEqualTo(3);
                    assertThat(catalog.find("tenant:export").orElseThrow().limit())
                            .isEqualTo(4);
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lease|0s|at least 100 ms",
                "lease|99ms|at least 100 ms",
                "lease|-15s|negative",
                "lease|400d|longer than a year",
                "defaults.store-timeout|0s|at least 10 ms",
                "defaults.store-timeout|-1s|negative",
                "defaults.store-timeout|400d|longer than a year",
                "permits.x.store-timeout|9ms|at least 10 ms",
                "defaults.linger|-1ms|negative",
                "defaults.linger|11ms|longer than 10 ms",
                "permits.x.linger|6s|longer than 10 ms",
                "defaults.max-waiting|0|at least 1",
                "permits.x.max-waiting|-1|at least 1",
                "key-prefix|a{b}|letters, digits",
                "key-prefix|a b|letters, digits",
                "key-prefix|''|letters, digits",
                "permits.x.limit|0|1 to 1000000",
                "permits.x.limit|-3|1 to 1000000",
                "permits.x.limit|1000001|1 to 1000000",
                "permits.x.timeout|-1s|negative",
                "permits.x.timeout|400d|longer than a year",
                "permits.x.linger|-1ms|negative",
            })
    void valueThatCannotWorkStopsTheStartByItsName(String name, String value, String reason) {
        FailureAnalysis analysis = analysis(local().withPropertyValues("distributed-permit." + name + "=" + value));
        assertThat(analysis.getDescription())
                .contains("distributed-permit." + name)
                .contains(reason);
        assertThat(analysis.getAction()).contains("Review the value");
    }

    @ParameterizedTest
    @CsvSource({
        "lease,soon",
        "defaults.max-waiting,many",
        "defaults.release,maybe",
        "permits.x.limit,few",
        "permits.x.timeout,later"
    })
    void valueThatCannotBeReadStopsTheStartByItsName(String name, String value) {
        FailureAnalysis analysis = analysis(local().withPropertyValues("distributed-permit." + name + "=" + value));
        assertThat(analysis.getDescription())
                .contains("distributed-permit." + name)
                .contains(value);
    }

    @Test
    void memberIsNewAtEveryStartAndNamedAfterTheApplication() {
        local().withPropertyValues("spring.application.name=shop")
                .run(one -> local().run(other -> {
                    Member first = one.getBean(PermitEngine.class).member();
                    assertThat(first.name())
                            .matches("shop@[^:]+:" + ProcessHandle.current().pid());
                    assertThat(first.id())
                            .hasSize(24)
                            .isNotEqualTo(
                                    other.getBean(PermitEngine.class).member().id());
                    assertThat(other.getBean(PermitEngine.class).member().name())
                            .startsWith("application@");
                }));
    }

    @Test
    void instanceNameIsTakenAsTold() {
        local().withPropertyValues("distributed-permit.instance-name=pod-7")
                .run(context -> assertThat(
                                context.getBean(PermitEngine.class).member().name())
                        .isEqualTo("pod-7"));
    }
}
