package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.analysis;
import static io.github.distributedpermit.autoconfigure.Starts.local;
import static io.github.distributedpermit.autoconfigure.Starts.plain;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.CuttableBackend.Line;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.health.HealthProbe;
import io.github.distributedpermit.health.PermitHealthIndicator;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.health.registry.HealthContributorRegistry;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A store that is down: seen by health, or at start. */
class HealthTest {

    private final CuttableBackend backend = new CuttableBackend();
    private final ApplicationContextRunner cuttable = plain().withBean("cuttable", PermitBackend.class, () -> backend)
            .withInitializer(CommandTimeout.ofMillis(100));

    @Test
    void upTellsBackendAndMember() {
        local().run(context -> {
            Health health = context.getBean(PermitHealthIndicator.class).health();
            Member member = context.getBean(PermitEngine.class).member();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails())
                    .containsEntry("backend", "local")
                    .containsEntry("member", member.name())
                    .containsEntry("memberId", member.id());
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = Line.class,
            names = {"CUT", "BROKEN", "SILENT"})
    void downTellsWhyWithoutSecretsAndRecoversByItself(Line line) {
        cuttable.run(context -> {
            PermitHealthIndicator indicator = context.getBean(PermitHealthIndicator.class);
            backend.line = line;
            Health down = indicator.health();
            assertThat(down.getStatus()).isEqualTo(Status.DOWN);
            assertThat(down.getDetails()).containsKeys("error", "backend", "member");
            assertThat(down.getDetails().toString()).doesNotContain("canary");
            backend.line = Line.GOOD;
            assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
        });
    }

    @Test
    void downWhileClaimsAreStuckThoughTheStoreAnswers() {
        cuttable.run(context -> {
            PermitHealthIndicator indicator = context.getBean(PermitHealthIndicator.class);
            backend.line = Line.CLAIMS_STUCK;
            assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
            backend.line = Line.GOOD;
            assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
        });
    }

    @Test
    void slowStoreIsUpAndSaysSo() {
        plain().withBean("cuttable", PermitBackend.class, () -> backend).run(context -> {
            backend.line = Line.SLOW;
            PermitHealthIndicator indicator = context.getBean(PermitHealthIndicator.class);
            await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
                Health health = indicator.health();
                assertThat(health.getStatus()).isEqualTo(Status.UP);
                assertThat(health.getDetails())
                        .hasEntrySatisfying(
                                "slow",
                                text -> assertThat(text.toString())
                                        .containsPattern("answers of the last seconds took \\d+ ms on average"));
            });
        });
    }

    @Test
    void drainedInstanceIsUpAndSaysSo() {
        cuttable.run(context -> {
            PermitHealthIndicator indicator = context.getBean(PermitHealthIndicator.class);
            assertThat(indicator.health().getDetails()).doesNotContainKey("drained");
            context.getBean(PermitEngine.class).drain();
            assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
            assertThat(indicator.health().getDetails()).containsKey("drained");
        });
    }

    @Test
    void downSaysAllThatIsWrong() {
        assertThat(error(CompletableFuture::new))
                .isEqualTo(
                        "The store does not answer, so it grants no permits: no answer within 1000 ms; not connected");
    }

    @Test
    void refusalOfTheStoreIsNoSilence() {
        PermitStoreException refusal = PermitStoreException.permanent("a password is required", null);
        assertThat(error(() -> CompletableFuture.failedFuture(refusal)))
                .isEqualTo("The store grants no permits: a password is required; not connected");
        assertThat(error(() -> {
                    throw refusal;
                }))
                .isEqualTo("The store grants no permits: a password is required; not connected");
    }

    private Object error(Supplier<CompletionStage<?>> claim) {
        AtomicReference<Health> health = new AtomicReference<>();
        cuttable.run(context -> health.set(new PermitHealthIndicator(
                        new HealthProbe(claim, Duration.ofSeconds(1)),
                        "redis",
                        () -> new Member("one", "one"),
                        () -> Optional.of("not connected"),
                        context.getBean(PermitEngine.class).status())
                .health()));
        return Objects.requireNonNull(
                Objects.requireNonNull(health.get()).getDetails().get("error"));
    }

    @Test
    void callsGetTheClientsOwnExceptionAndWhereTheStoreIs() {
        cuttable.withPropertyValues("distributed-permit.permits.export.limit=1").run(context -> {
            backend.line = Line.CUT;
            assertThatExceptionOfType(PermitBackendException.class)
                    .isThrownBy(() -> context.getBean(Permits.class).tryAcquire("export"))
                    .withMessageContaining("store.example:4711")
                    .withMessageContaining("the line is cut")
                    .withCauseInstanceOf(IllegalStateException.class)
                    .satisfies(e -> assertThat(e.getMessage()).doesNotContain("canary"));
        });
    }

    @Test
    void downNamesWhatTheStoreSaidAndHowLongItWasSilent() {
        cuttable.run(context -> {
            PermitHealthIndicator indicator = context.getBean(PermitHealthIndicator.class);
            backend.line = Line.CUT;
            assertThat(indicator.health().getDetails())
                    .containsEntry("error", "The store does not answer, so it grants no permits: the line is cut");
            backend.line = Line.SILENT;
            assertThat(indicator.health().getDetails())
                    .containsEntry(
                            "error", "The store does not answer, so it grants no permits: no answer within 100 ms");
        });
    }

    @Test
    void detailsSayHowTheInstanceGetsAlongWithTheStore() {
        cuttable.withPropertyValues("distributed-permit.permits.export.limit=1").run(context -> {
            PermitHealthIndicator indicator = context.getBean(PermitHealthIndicator.class);
            assertThat(indicator.health().getDetails())
                    .containsEntry("address", "store.example:4711")
                    .containsEntry("unansweredClaims", 0)
                    .containsEntry("lostPermits", 0L)
                    .doesNotContainKey("millisSinceLastClaim");
            context.getBean(Permits.class).acquire("export").release();
            assertThat(indicator.health().getDetails())
                    .containsKey("keys")
                    .hasEntrySatisfying(
                            "millisSinceLastClaim",
                            millis -> assertThat((Long) millis).isBetween(0L, 60_000L));
        });
    }

    @Test
    void contributorIsNamedDistributedPermit() {
        local().withConfiguration(AutoConfigurations.of(
                        HealthContributorRegistryAutoConfiguration.class, HealthContributorAutoConfiguration.class))
                .run(context -> assertThat(
                                context.getBean(HealthContributorRegistry.class).getContributor("distributedPermit"))
                        .isInstanceOf(PermitHealthIndicator.class));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "management.health.distributed-permit.enabled=false",
                "management.health.defaults.enabled=false",
                "distributed-permit.enabled=false"
            })
    void noHealthWhereItIsSwitchedOff(String property) {
        local().withPropertyValues(property)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(PermitHealthIndicator.class));
    }

    @Test
    void noHealthWithoutBootsHealth() {
        local().withClassLoader(new FilteredClassLoader(HealthIndicator.class))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(DistributedPermitHealthAutoConfiguration.class)
                        .hasSingleBean(PermitEngine.class));
    }

    @Test
    void applicationStartsWithoutItsStoreUnlessItFailsFast() {
        backend.line = Line.CUT;
        cuttable.run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(PermitHealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.DOWN);
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = Line.class,
            names = {"CUT", "BROKEN", "SILENT"})
    void applicationThatFailsFastDoesNotStartWithoutItsStore(Line line) {
        backend.line = line;
        FailureAnalysis analysis = analysis(cuttable.withPropertyValues("distributed-permit.fail-fast=true"));
        assertThat(analysis.getDescription())
                .contains("The store of permits cannot be used")
                .doesNotContain("canary");
        assertThat(analysis.getAction()).contains("distributed-permit.fail-fast=false");
    }

    @Test
    void applicationThatFailsFastStartsWithItsStore() {
        cuttable.withPropertyValues("distributed-permit.fail-fast=true")
                .run(context -> assertThat(context).hasNotFailed());
    }
}
