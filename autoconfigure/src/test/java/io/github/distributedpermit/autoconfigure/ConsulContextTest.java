package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.backend.consul.ConsulPermitBackend;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.ConsulServer;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.PermitBackend;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.consul.ConsulAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;

/** Applications whose permits live in Consul. */
class ConsulContextTest {

    private static final String CANARY = "canary-token";

    private final String prefix = "context-" + UUID.randomUUID();

    @Test
    void oneDependencyAndNoDiscoveryIsEnough() {
        ConsulServer server = SharedConsul.get();
        try (ConfigurableApplicationContext whole = new SpringApplicationBuilder(WholeApplication.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.cloud.consul.port=" + server.address().getPort(),
                        "distributed-permit.backend=consul",
                        "distributed-permit.key-prefix=" + prefix)
                .initializers(CommandTimeout.ofSeconds(5))
                .run()) {
            Starts.connect(whole);
            assertThat(whole.getEnvironment().getProperty("spring.cloud.consul.discovery.enabled"))
                    .isEqualTo("false");
            assertThat(whole.getBean(Service.class).export()).isEqualTo("done");
        }
        await().untilAsserted(() -> assertThat(server.probe().keys(prefix)).isEmpty());
    }

    @Test
    void twoApplicationsShareALimitAndLeaveNoSessionBehind() {
        ConsulProbe probe = SharedConsul.get().probe();
        ApplicationContextRunner runner = on(SharedConsul.get())
                .withBean(Service.class)
                .withPropertyValues("distributed-permit.instance-name=" + prefix);
        runner.run(one -> runner.run(other -> {
            assertThat(one).hasNotFailed();
            Starts.connect(other);
            Service elsewhere = other.getBean(Service.class);
            try (Permit permit = one.getBean(Permits.class).acquire("context-export")) {
                assertThat(permit.isHeld()).isTrue();
                assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(elsewhere::export);
            }
            await().ignoreException(PermitRejectedException.class)
                    .untilAsserted(() -> assertThat(elsewhere.export()).isEqualTo("done"));
            assertThat(probe.sessions().stream().filter(this::isOurs)).hasSize(2);
        }));
        await().untilAsserted(() ->
                assertThat(probe.sessions().stream().filter(this::isOurs)).isEmpty());
        assertThat(probe.keys(prefix)).isEmpty();
    }

    private boolean isOurs(ConsulProbe.Session session) {
        return session.name().contains(prefix);
    }

    @Test
    void aloneOnTheClasspathItIsTaken() {
        on(SharedConsul.get())
                .withPropertyValues("distributed-permit.backend=")
                .withClassLoader(new FilteredClassLoader("io.lettuce", "org.apache.curator"))
                .run(context ->
                        assertThat(context).getBean(PermitBackend.class).isInstanceOf(ConsulPermitBackend.class));
    }

    @Test
    void sessionShorterThanConsulTakesStopsTheStart() {
        FailureAnalysis analysis = analysis(on(SharedConsul.get()).withPropertyValues("distributed-permit.lease=9s"));
        assertThat(analysis.getDescription())
                .contains("distributed-permit.lease")
                .contains("10 seconds");
    }

    @ParameterizedTest
    @CsvSource({"scheme,ftp", "host,canary-token:x@consul", "host,canary-token consul", "host,''"})
    void addressThatMakesNoSenseStopsTheStartAndIsNotShown(String name, String value) {
        FailureAnalysis analysis =
                analysis(on(SharedConsul.get()).withPropertyValues("spring.cloud.consul." + name + "=" + value));
        assertThat(analysis.getDescription() + analysis.getAction())
                .contains("spring.cloud.consul.host")
                .doesNotContain(CANARY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"distributed-permit.consul.token", "spring.cloud.consul.discovery.acl-token", "CONSUL_TOKEN"})
    void tokenThatNoHeaderCarriesStopsTheStartWithoutBeingShown(String name) {
        FailureAnalysis analysis =
                analysis(on(SharedConsul.get()).withPropertyValues(name + "=" + CANARY + "\n" + CANARY));
        assertThat(analysis.getDescription() + analysis.getAction())
                .contains("distributed-permit.consul.token")
                .doesNotContain(CANARY);
        assertThat(Objects.requireNonNull(analysis.getCause()).toString()).doesNotContain(CANARY);
    }

    /** As when the secrets of the application are renewed while it runs. */
    @ParameterizedTest
    @ValueSource(
            strings = {"distributed-permit.consul.token", "spring.cloud.consul.discovery.acl-token", "CONSUL_TOKEN"})
    void tokenThatWasReplacedInTheEnvironmentIsUsedFromThenOn(String name) {
        String master = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa";
        try (ConsulServer server = ConsulServer.startWithAccessControl(master)) {
            ConsulProbe probe = server.probe().with(master);
            String rules = "session_prefix \"\" { policy = \"write\" } key_prefix \"%s\" { policy = \"write\" }"
                    .formatted(prefix);
            String old = probe.newToken(rules);
            on(server)
                    .withBean(Service.class)
                    .withPropertyValues(name + "=" + old)
                    .run(context -> {
                        Starts.connect(context);
                        Permit permit = context.getBean(Permits.class).acquire("context-export");

                        context.getEnvironment()
                                .getPropertySources()
                                .addFirst(new MapPropertySource("renewed", Map.of(name, probe.newToken(rules))));
                        probe.revokeToken(old);

                        assertThat(permit.isHeld()).isTrue();
                        permit.release();
                        await().ignoreException(PermitRejectedException.class)
                                .untilAsserted(() -> assertThat(
                                                context.getBean(Service.class).export())
                                        .isEqualTo("done"));
                    });
        }
    }

    @Test
    void limitAboveAThousandStopsTheStart() {
        FailureAnalysis analysis = analysis(on(SharedConsul.get())
                .withBean(Service.class)
                .withPropertyValues("distributed-permit.permits.context-export.limit=1001"));
        assertThat(analysis.getDescription())
                .contains("context-export")
                .contains("1001")
                .contains("1000");
    }

    @Test
    void consulThatIsSwitchedOffStopsTheStartAndSaysSo() {
        FailureAnalysis analysis =
                analysis(on(SharedConsul.get()).withPropertyValues("spring.cloud.consul.enabled=false"));
        assertThat(analysis.getDescription()).contains("spring.cloud.consul.enabled");
    }

    @Test
    void withoutConsulTheApplicationStartsAndCallsSayWhatIsWrongWithoutTheToken() {
        Starts.plain()
                .withConfiguration(AutoConfigurations.of(ConsulAutoConfiguration.class))
                .withBean(Service.class)
                .withPropertyValues(
                        "distributed-permit.backend=consul",
                        "spring.cloud.consul.port=1",
                        "spring.cloud.consul.discovery.acl-token=" + CANARY)
                .run(context -> assertThatExceptionOfType(PermitBackendException.class)
                        .isThrownBy(() -> context.getBean(Service.class).export())
                        .havingCause()
                        .satisfies(cause -> assertThat(cause.toString()).doesNotContain(CANARY)));
    }

    private ApplicationContextRunner on(ConsulServer server) {
        return Starts.plain()
                .withConfiguration(AutoConfigurations.of(ConsulAutoConfiguration.class))
                .withInitializer(CommandTimeout.ofSeconds(5))
                .withPropertyValues(
                        "distributed-permit.backend=consul",
                        "distributed-permit.key-prefix=" + prefix,
                        "spring.cloud.consul.port=" + server.address().getPort());
    }

    static class Service {

        @DistributedPermit(key = "context-export", limit = 1, block = false)
        public String export() {
            return "done";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class WholeApplication {

        @Bean
        Service service() {
            return new Service();
        }
    }
}
