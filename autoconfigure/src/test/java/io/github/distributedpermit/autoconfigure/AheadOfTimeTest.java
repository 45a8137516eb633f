package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.proxies;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.resource;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.io.IOException;
import java.util.UUID;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles.Kind;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.javapoet.ClassName;
import org.springframework.mock.env.MockEnvironment;

/** What an application that is processed ahead of time gets to know, and what it says of settings that come too late. */
@ExtendWith(OutputCaptureExtension.class)
class AheadOfTimeTest {

    private static final InMemoryGeneratedFiles FILES = new InMemoryGeneratedFiles();
    private static RuntimeHints hints = new RuntimeHints();

    @BeforeAll
    static void process() {
        DefaultGenerationContext generation = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get("com.example", "Application")), FILES);
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            TestPropertyValues.of("distributed-permit.backend=local").applyTo(context);
            context.register(Application.class);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }
        generation.writeGeneratedContent();
        hints = generation.getRuntimeHints();
    }

    @Test
    void beansOfTheLibraryAreGenerated() {
        assertThat(FILES.getGeneratedFiles(Kind.SOURCE).keySet())
                .anyMatch(file -> file.endsWith("DistributedPermitAutoConfiguration__BeanDefinitions.java"))
                .anyMatch(file -> file.endsWith("LocalBackendConfiguration__BeanDefinitions.java"))
                .noneMatch(file -> file.endsWith("RedisBackendConfiguration__BeanDefinitions.java"));
    }

    @Test
    void limitedMethodsAndFallbacksAreReachable() {
        assertThat(hints)
                .matches(invocation(Reports.class, "export"), "Reports.export")
                .matches(invocation(Reports.class, "busy"), "Reports.busy")
                .matches(invocation(Inherited.class, "inherited"), "Inherited.inherited")
                .matches(invocation(Archive.class, "archive"), "Archive.archive")
                .matches(invocation(ArchiveInMemory.class, "archive"), "ArchiveInMemory.archive")
                .matches(invocation(Spare.class, "archive"), "Spare.archive")
                .matches(invocation(Plain.class, "other").negate(), "not Plain.other");
    }

    @Test
    void whatExpressionsOfKeysReadIsReachable() {
        assertThat(hints)
                .matches(invocation(Tenant.class, "id"), "Tenant.id")
                .matches(invocation(Tenant.class, "toString"), "Tenant.toString")
                .matches(invocation(UUID.class, "toString"), "UUID.toString")
                .matches(reflection().onType(NotRead.class).negate());
        assertThat(hints.reflection()
                        .typeHints()
                        .filter(type -> type.getType().getName().endsWith("KeyContexts$KeyRoot")))
                .hasSize(1);
    }

    @Test
    void annotationsCanBeReadAndSynthesized() {
        assertThat(hints)
                .matches(proxies().forInterfaces(DistributedPermit.class), "proxy")
                .matches(invocation(DistributedPermit.class, "limitString"), "DistributedPermit.limitString");
    }

    @Test
    void everyScriptIsAResource() throws IOException {
        Resource[] scripts = new PathMatchingResourcePatternResolver()
                .getResources("classpath*:io/github/distributedpermit/backend/redis/*.lua");
        assertThat(scripts)
                .hasSizeGreaterThan(4)
                .allSatisfy(script -> assertThat(hints)
                        .matches(resource()
                                .forResource("io/github/distributedpermit/backend/redis/" + script.getFilename())));
    }

    @Test
    void settingsOfSinglePermitsCanBeBound() {
        assertThat(hints)
                .matches(reflection().onType(PermitSettings.class))
                .matches(reflection()
                        .onConstructorInvocation(PermitSettings.class.getDeclaredConstructors()[0]));
    }

    @Test
    void otherBackendThanTheFrozenOneStopsTheStart() {
        LocalPermitBackend backend = new LocalPermitBackend();
        assertThatExceptionOfType(UnusableBackendException.class)
                .isThrownBy(() -> frozen("backend", "redis").checkEnabled(backend))
                .withMessageStartingWith(
                        "distributed-permit.backend is redis, but this application was processed ahead of time with"
                                + " the backend local")
                .satisfies(e -> assertThat(Starts.explain(e).getAction()).contains("spring.aot.enabled"));
        frozen("backend", "LOCAL").checkEnabled(backend);
        frozen("key-prefix", "other").checkEnabled(backend);
        new FrozenSettings(environment("backend", "redis"), false).checkEnabled(backend);
    }

    @Test
    void backendOfTheApplicationIsNotComparedWithTheSetting() {
        frozen("backend", "redis").checkEnabled(new PermitBackend() {
            @Override
            public String name() {
                return "own";
            }

            @Override
            public PermitStore join(Member member, HoldingListener listener) {
                throw new UnsupportedOperationException();
            }
        });
    }

    @Test
    void permitsThatAreDisabledTooLateStillLimitAndTheLogSaysSo(CapturedOutput output) {
        frozen("enabled", "false").checkEnabled(new LocalPermitBackend());
        assertThat(output).contains("distributed-permit.enabled=false has no effect");
    }

    @Test
    void permitsThatAreEnabledTooLateStopTheStart() {
        assertThatExceptionOfType(UnusableBackendException.class)
                .isThrownBy(() -> frozen("enabled", "true").checkDisabled())
                .withMessageContaining("no call would be limited");
        frozen("enabled", "false").checkDisabled();
        new FrozenSettings(environment("enabled", "true"), false).checkDisabled();
    }

    private static Predicate<RuntimeHints> invocation(Class<?> type, String method) {
        return reflection().onMethodInvocation(type, method);
    }

    private static FrozenSettings frozen(String name, String value) {
        return new FrozenSettings(environment(name, value), true);
    }

    private static MockEnvironment environment(String name, String value) {
        return new MockEnvironment().withProperty("distributed-permit." + name, value);
    }

    @ImportAutoConfiguration({AopAutoConfiguration.class, DistributedPermitAutoConfiguration.class})
    @Import({Reports.class, ArchiveInMemory.class, Plain.class})
    static class Application {

        @Bean
        Spare spare() {
            return new Spare();
        }
    }

    record Tenant(String id) {}

    record NotRead(String id) {}

    static class Inherited {

        @DistributedPermit(key = "inherited", limit = 1)
        public void inherited(NotRead argument) {}
    }

    static class Reports extends Inherited {

        @DistributedPermit(
                key = "#{#tenant.id}-#{#report}",
                name = "export",
                limit = 1,
                block = false,
                fallback = "busy")
        public String export(Tenant tenant, UUID report) {
            return tenant.id() + report;
        }

        String busy(Tenant tenant, UUID report) {
            return "busy with " + tenant.id() + report;
        }
    }

    interface Archive {

        @DistributedPermit(key = "archive", limit = 1, fallback = "spare::archive")
        void archive();
    }

    static class ArchiveInMemory implements Archive {

        @Override
        public void archive() {}
    }

    static class Spare {

        public void archive() {}
    }

    static class Plain {

        public void other() {}
    }
}
