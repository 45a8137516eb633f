package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.consulserver.ConsulServer;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.cloud.context.refresh.ContextRefresher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Limits that change while applications run: by Spring Cloud's real refresh of a changed file, and by code. */
@ExtendWith({RedisExtension.class, OutputCaptureExtension.class})
@Timeout(180)
class LimitRefreshTest {

    // as the pattern of Spring Boot or of Logback shortens them
    private static final Pattern OURS = Pattern.compile("\\b(io\\.github|i\\.g)\\.d");
    private static final Pattern SPRINGS = Pattern.compile("\\b(org\\.springframework|o\\.s)\\.");

    @TempDir
    private Path folder;

    private final List<ConfigurableApplicationContext> started = new ArrayList<>();
    private Path file = Path.of("none");

    @BeforeEach
    void settings() {
        file = folder.resolve("application.properties");
        write("distributed-permit.permits.export.limit=1");
    }

    @Test
    void twoApplicationsOnRedisRaiseAndLowerALimit(RedisServer server) {
        raisedAndLowered("distributed-permit.backend=redis", "spring.data.redis.port=" + server.port());
    }

    @Test
    void twoApplicationsOnConsulRaiseAndLowerALimit() {
        try (ConsulServer server = ConsulServer.start()) {
            raisedAndLowered(
                    "distributed-permit.backend=consul",
                    "spring.cloud.consul.port=" + server.address().getPort());
        }
    }

    @Test
    void twoApplicationsOnZooKeeperRaiseAndLowerALimit() throws Exception {
        try (TestingServer server = new TestingServer()) {
            raisedAndLowered(
                    "distributed-permit.backend=zookeeper",
                    "distributed-permit.zookeeper.connect-string=" + server.getConnectString());
        }
    }

    @Test
    void twoApplicationsOnADatabaseRaiseAndLowerALimit() {
        raisedAndLowered(new TestDatabase().settings());
    }

    private void raisedAndLowered(String... properties) {
        try {
            ConfigurableApplicationContext one = start(properties);
            ConfigurableApplicationContext other = start(properties);
            List<CompletableFuture<Permit>> calls = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                calls.add(one.getBean(Permits.class).acquireAsync("export"));
                calls.add(other.getBean(Permits.class).acquireAsync("export"));
            }
            await().untilAsserted(() -> assertThat(held(calls)).hasSize(1));
            write("distributed-permit.permits.export.limit=3");
            started.forEach(LimitRefreshTest::refresh);
            await().untilAsserted(() -> assertThat(held(calls)).hasSize(3));
            write("distributed-permit.permits.export.limit=1");
            started.forEach(LimitRefreshTest::refresh);
            // the store serves a waiting call by the limit that its instance has stated last
            await().ignoreExceptions()
                    .untilAsserted(() -> assertThat(queue(one))
                            .singleElement()
                            .extracting(KeyState.MemberState::limit)
                            .isEqualTo(1));
            CompletableFuture<Permit> waiting =
                    calls.stream().filter(call -> !call.isDone()).findFirst().orElseThrow();
            List<Permit> holders = held(calls);
            holders.get(0).release();
            holders.get(1).release();
            await().ignoreException(PermitBackendException.class)
                    .untilAsserted(() -> assertThat(
                                    one.getBean(Permits.class).state("export").inUse())
                            .isEqualTo(1));
            assertThat(waiting).isNotDone();
            assertThat(holders.get(2).isHeld()).isTrue();
            holders.get(2).release();
            await().until(waiting::isDone);
            waiting.join().release();
        } finally {
            stop();
        }
    }

    private static List<KeyState.MemberState> queue(ConfigurableApplicationContext context) throws Exception {
        return context.getBean(PermitEngine.class)
                .inspect("export")
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS)
                .queue();
    }

    @Test
    void aRefreshLogsNoWarningAndOneLineForTheChange(CapturedOutput output) {
        try {
            ConfigurableApplicationContext context = start("distributed-permit.backend=local");
            int before = output.getAll().length();
            refresh(context);
            assertThat(lines(output, before)).isEmpty();
            write("distributed-permit.permits.export.limit=4");
            refresh(context);
            assertThat(lines(output, before))
                    .singleElement()
                    .asString()
                    .doesNotContain("WARN")
                    .contains("Changed settings of permits are in force. Limits set: export=4");
        } finally {
            stop();
        }
    }

    /** How long answers may take is derived from the store time-outs when the application starts: five seconds here. */
    @Test
    void aStoreTimeoutShorterThanAnswersMayTakeIsRefused(CapturedOutput output) {
        try {
            ConfigurableApplicationContext context = start("distributed-permit.backend=local");
            write("distributed-permit.permits.export.limit=3", "distributed-permit.permits.job.store-timeout=4s");
            refresh(context);
            assertThat(limit(context, "export")).isEqualTo(1);
            assertThat(output.getAll()).contains("a store-timeout of 4000 ms is shorter than the 5000 ms");
            write("distributed-permit.permits.export.limit=3", "distributed-permit.permits.job.store-timeout=6s");
            refresh(context);
            assertThat(limit(context, "export")).isEqualTo(3);
        } finally {
            stop();
        }
    }

    @Test
    void aMistakeIsRefusedAsAWholeAndTheOldSettingsStay(CapturedOutput output) {
        try {
            ConfigurableApplicationContext context = start("distributed-permit.backend=local");
            for (String mistake : List.of("0", "many", "${missing.value}")) {
                write("distributed-permit.permits.export.limit=" + mistake, "distributed-permit.permits.job.limit=9");
                refresh(context);
                assertThat(limit(context, "export")).isEqualTo(1);
                assertThat(limit(context, "job")).isEqualTo(2);
            }
            assertThat(output.getAll())
                    .contains("Changed settings of permits were refused, and those before stay in force")
                    .contains("distributed-permit.permits.export.limit");
            write("distributed-permit.permits.export.limit=unlimited", "distributed-permit.permits.job.limit=9");
            refresh(context);
            assertThat(limit(context, "export")).isEqualTo(PermitDefinition.UNLIMITED);
            assertThat(limit(context, "job")).isEqualTo(9);
        } finally {
            stop();
        }
    }

    @Test
    void aMethodThatCannotBeSkippedRefusesTheWholeChange(CapturedOutput output) {
        try {
            ConfigurableApplicationContext context = start("distributed-permit.backend=local");
            write(
                    "distributed-permit.permits.export.limit=5",
                    "distributed-permit.permits.count.on-reject=skip",
                    "distributed-permit.permits.count.timeout=1s");
            refresh(context);
            assertThat(limit(context, "export")).isEqualTo(1);
            assertThat(context.getBean(PermitCatalog.class)
                            .find("count")
                            .orElseThrow()
                            .timeout())
                    .isNull();
            assertThat(output.getAll())
                    .contains("Changed settings of permits were refused")
                    .contains("cannot be skipped, because it returns int")
                    .doesNotContain("Changed settings of permits are in force");
        } finally {
            stop();
        }
    }

    @Test
    void timeoutsOfAnnotatedMethodsChangeAsWell() throws InterruptedException {
        try {
            ConfigurableApplicationContext context = start("distributed-permit.backend=local");
            Permit held = context.getBean(Permits.class)
                    .named("job")
                    .acquire(PermitRequest.builder("job").permits(2).build());
            write("distributed-permit.permits.export.limit=1", "distributed-permit.defaults.timeout=20ms");
            refresh(context);
            assertThat(context.getBean(Service.class).job()).isEqualTo("none");
            held.release();
            assertThat(context.getBean(Service.class).job()).isEqualTo("done");
        } finally {
            stop();
        }
    }

    /** The settings of a name follow a refresh; what the annotation itself says does not. */
    @Test
    void placeholderOfAnAnnotationIsReadAtStartOnly() {
        write("distributed-permit.permits.export.limit=1", "reports.limit=5");
        try {
            ConfigurableApplicationContext context = start("distributed-permit.backend=local");
            write("distributed-permit.permits.export.limit=2", "reports.limit=6");
            refresh(context);
            assertThat(context.getEnvironment().getProperty("reports.limit")).isEqualTo("6");
            assertThat(limit(context, "export")).isEqualTo(2);
            assertThat(limit(context, "placeholder")).isEqualTo(5);
        } finally {
            stop();
        }
    }

    @Test
    void namesMadeAtRunTimeHaveTheLimitOfTheirPattern() throws InterruptedException {
        write("distributed-permit.permits.export.limit=1", "distributed-permit.permits[tenant-*].limit=2");
        try {
            ConfigurableApplicationContext context = start("distributed-permit.backend=local");
            Permits permits = context.getBean(Permits.class);
            assertThat(permits.tryAcquire("tenant-7")).isPresent();
            assertThat(permits.tryAcquire("tenant-7")).isPresent();
            assertThat(permits.tryAcquire("tenant-7")).isEmpty();
            assertThat(permits.tryAcquire("tenant-8")).isPresent();
            write(
                    "distributed-permit.permits.export.limit=1",
                    "distributed-permit.permits[tenant-*].limit=2",
                    "distributed-permit.permits.tenant-7.limit=3");
            refresh(context);
            assertThat(permits.tryAcquire("tenant-7")).isPresent();
            assertThat(permits.tryAcquire("tenant-7")).isEmpty();
        } finally {
            stop();
        }
    }

    @Test
    void aLimitThatIsTakenAwayLeavesEachCallItsOwn() throws Exception {
        write("distributed-permit.permits.export.limit=1", "distributed-permit.permits.plan.limit=1");
        try {
            ConfigurableApplicationContext context = start("distributed-permit.backend=local");
            Permits permits = context.getBean(Permits.class);
            Service service = context.getBean(Service.class);
            CompletableFuture<String> work = new CompletableFuture<>();
            List<CompletableFuture<String>> calls =
                    new ArrayList<>(List.of(service.plan(3, work), service.plan(3, work)));
            await().until(() -> permits.state("plan").waiting() == 1);
            write("distributed-permit.permits.export.limit=1");
            refresh(context);
            calls.add(service.plan(3, work));
            await().until(() -> permits.state("plan").inUse() == 2);
            work.complete("done");
            for (CompletableFuture<String> call : calls) {
                assertThat(call.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            }
        } finally {
            stop();
        }
    }

    @Test
    void codeSetsLimits() throws InterruptedException {
        try {
            ConfigurableApplicationContext context = start("distributed-permit.backend=local");
            Permits permits = context.getBean(Permits.class);
            assertThat(permits.tryAcquire("export")).isPresent();
            assertThat(permits.tryAcquire("export")).isEmpty();
            context.getBean(PermitCatalog.class).changeLimits(Map.of("export", 2));
            assertThat(permits.tryAcquire("export")).isPresent();
        } finally {
            stop();
        }
    }

    @Test
    void propertiesThatAreReadAtStartOnlyAreNamed(CapturedOutput output) {
        try {
            ConfigurableApplicationContext context = start("distributed-permit.backend=local");
            write("distributed-permit.permits.export.limit=1", "distributed-permit.lease=20s");
            refresh(context);
            assertThat(output.getAll()).contains("only take effect at the next start: distributed-permit.lease");
            context.publishEvent(new EnvironmentChangeEvent(context, Set.of()));
        } finally {
            stop();
        }
    }

    /** What the library has logged since, and warnings of Spring; clients of stores may log at any time. */
    private static List<String> lines(CapturedOutput output, int from) {
        return output.getAll()
                .substring(from)
                .lines()
                .filter(line -> OURS.matcher(line).find()
                        || (line.contains("WARN") && SPRINGS.matcher(line).find()))
                .toList();
    }

    private static int limit(ConfigurableApplicationContext context, String name) {
        Integer limit =
                context.getBean(PermitCatalog.class).find(name).orElseThrow().limit();
        assertThat(limit).isNotNull();
        return limit;
    }

    private static List<Permit> held(List<CompletableFuture<Permit>> calls) {
        return calls.stream()
                .filter(call -> call.isDone() && call.join().isHeld())
                .map(CompletableFuture::join)
                .toList();
    }

    private static void refresh(ConfigurableApplicationContext context) {
        context.getBean(ContextRefresher.class).refresh();
    }

    private void write(String... lines) {
        try {
            Files.write(file, List.of(lines));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private ConfigurableApplicationContext start(String... properties) {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.config.additional-location=file:" + file,
                        "spring.lifecycle.timeout-per-shutdown-phase=100ms")
                .properties("spring.data.redis.host=127.0.0.1")
                .initializers(CommandTimeout.ofSeconds(5))
                .properties(properties)
                .run();
        started.add(context);
        return context;
    }

    private void stop() {
        started.forEach(ConfigurableApplicationContext::close);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Service service() {
            return new Service();
        }
    }

    static class Service {

        @DistributedPermit(key = "export")
        public String export() {
            return "done";
        }

        @DistributedPermit(key = "job", limit = 2, permits = 2, fallback = "none")
        public String job() {
            return "done";
        }

        @DistributedPermit(key = "placeholder", limitString = "${reports.limit:7}")
        public void placeholder() {
            // only its limit is looked at
        }

        @DistributedPermit(key = "count", limit = 1)
        public int count() {
            return 1;
        }

        @DistributedPermit(key = "plan", limitString = "#{#most}")
        public CompletableFuture<String> plan(int most, CompletableFuture<String> work) {
            return work.copy();
        }

        String none() {
            return "none";
        }
    }
}
