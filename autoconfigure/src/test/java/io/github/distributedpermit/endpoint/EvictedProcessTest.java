package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.fleet.HoldingApplication;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.github.distributedpermit.autoconfigure.DistributedPermitEndpointAutoConfiguration;
import io.github.distributedpermit.autoconfigure.TestDatabase;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.endpoint.PermitsView.MemberRow;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.consul.ConsulAutoConfiguration;
import org.springframework.context.ApplicationContext;

/**
 * The permit of a process that stands still ({@code SIGSTOP}) and of one that is dead ({@code SIGKILL}), taken by an operator.
 * Leases and sessions last much longer than the test waits, so that nothing else frees a permit.
 */
@ExtendWith(RedisExtension.class)
@Execution(ExecutionMode.CONCURRENT) // each has keys of its own, and mostly waits for the start of the other process
class EvictedProcessTest {

    private static final String KEY = "evicted";
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(30);

    @Test
    void redis(RedisServer server) {
        check(
                "spring.data.redis.host=127.0.0.1",
                "spring.data.redis.port=" + server.port(),
                "distributed-permit.lease=" + LONG.toSeconds() + "s",
                "distributed-permit.backend=redis");
    }

    @Test
    void consulSlots() {
        check(
                "spring.cloud.consul.port=" + SharedConsul.get().address().getPort(),
                "distributed-permit.lease=" + LONG.toSeconds() + "s",
                "distributed-permit.backend=consul");
    }

    @Test
    void consulLockFile() {
        check(
                "spring.cloud.consul.port=" + SharedConsul.get().address().getPort(),
                "distributed-permit.lease=" + LONG.toSeconds() + "s",
                "distributed-permit.backend=consul",
                "distributed-permit.consul.layout=lock-file");
    }

    @Test
    void zooKeeper() throws Exception {
        try (TestingServer server = new TestingServer()) {
            check(
                    "distributed-permit.backend=zookeeper",
                    "distributed-permit.lease=" + LONG.toSeconds() + "s",
                    "distributed-permit.zookeeper.connect-string=" + server.getConnectString());
        }
    }

    @Test
    void database() {
        List<String> settings = new ArrayList<>(List.of(new TestDatabase().settings()));
        settings.add("distributed-permit.lease=" + LONG.toSeconds() + "s");
        check(settings.toArray(String[]::new));
    }

    private static void check(String... store) {
        List<String> settings = new ArrayList<>(List.of(store));
        settings.add("distributed-permit.permits.fleet.limit=1");
        settings.add("distributed-permit.key-prefix=evicted-" + UUID.randomUUID());
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class,
                        PropertyPlaceholderAutoConfiguration.class,
                        DataRedisAutoConfiguration.class,
                        ConsulAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        DistributedPermitAutoConfiguration.class,
                        DistributedPermitEndpointAutoConfiguration.class))
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=permits",
                        "distributed-permit.instance-name=operator")
                .withPropertyValues(settings.toArray(String[]::new))
                .run(operator -> {
                    try (Other other = new Other(settings)) {
                        check(operator, other);
                    }
                });
    }

    private static void check(ApplicationContext context, Other other) throws Exception {
        PermitsEndpoint operator = context.getBean(PermitsEndpoint.class);
        Permits permits = context.getBean(Permits.class);
        other.acquire();
        CompletableFuture<Permit> waiting =
                permits.named("fleet").acquireAsync(permits.named("fleet").request(KEY));
        await().atMost(SOON).until(() -> rows(operator).size() == 2);

        other.signal("-STOP");
        long from = System.nanoTime();
        evictOther(operator);
        await().atMost(SOON).until(waiting::isDone);
        report("a frozen holder was evicted, and the next call served", from);
        assertThat(other.lines).containsOnlyOnce("HELD").doesNotContain("LOST", "GONE");
        from = System.nanoTime();
        other.signal("-CONT");
        await().atMost(SOON).untilAsserted(() -> assertThat(other.lines).contains("LOST", "GONE"));
        report("the thawed holder noticed", from);

        waiting.join().release();
        other.acquire();
        CompletableFuture<Permit> next =
                permits.named("fleet").acquireAsync(permits.named("fleet").request(KEY));
        await().atMost(SOON).until(() -> rows(operator).size() == 2);
        other.process.destroyForcibly().waitFor();
        from = System.nanoTime();
        evictOther(operator);
        await().atMost(SOON).until(next::isDone);
        report("a dead holder was evicted, and the next call served", from);
        next.join().release();
    }

    private static void report(String what, long from) {
        System.getLogger(EvictedProcessTest.class.getName())
                .log(System.Logger.Level.INFO, what + " after " + (System.nanoTime() - from) / 1_000_000 + " ms");
    }

    private static List<MemberRow> rows(PermitsEndpoint endpoint) {
        return Objects.requireNonNull(endpoint.permit("fleet", KEY, null, null))
                .keys()
                .get(0)
                .members();
    }

    private static void evictOther(PermitsEndpoint operator) {
        MemberRow holder = rows(operator).stream()
                .filter(row -> !row.self() && row.holding() > 0)
                .findFirst()
                .orElseThrow();
        PermitsView.Change taken =
                Objects.requireNonNull(operator.change("fleet", KEY, null, holder.member(), null, null, null, null));
        assertThat(taken.evicted()).isEqualTo(1);
    }

    /** Another instance, in a process of its own. */
    private static final class Other implements AutoCloseable {

        private final Process process;
        private final List<String> lines = new CopyOnWriteArrayList<>();

        Other(List<String> settings) throws IOException {
            List<String> command = new ArrayList<>(List.of(
                    System.getProperty("java.home") + "/bin/java",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-Xmx128m",
                    "-cp",
                    System.getProperty("java.class.path"),
                    HoldingApplication.class.getName()));
            settings.forEach(setting -> command.add("--" + setting));
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            Thread reader = new Thread(this::read, "output of the other process");
            reader.setDaemon(true);
            reader.start();
            await().atMost(Duration.ofMinutes(3))
                    .untilAsserted(() -> assertThat(lines).contains("READY"));
        }

        private void read() {
            try (BufferedReader out =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                for (String line = out.readLine(); line != null; line = out.readLine()) {
                    lines.add(line.startsWith("## ") ? line.substring(3) : "log: " + line);
                }
            } catch (IOException e) {
                lines.add("log: " + e);
            }
        }

        void acquire() {
            long before = held();
            try {
                process.getOutputStream().write((KEY + "\n").getBytes(StandardCharsets.UTF_8));
                process.getOutputStream().flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(held()).as("%s", lines).isEqualTo(before + 1));
        }

        private long held() {
            return lines.stream().filter("HELD"::equals).count();
        }

        void signal(String name) throws IOException, InterruptedException {
            assertThat(new ProcessBuilder("kill", name, Long.toString(process.pid()))
                            .start()
                            .waitFor())
                    .isZero();
        }

        @Override
        public void close() throws Exception {
            process.destroyForcibly().waitFor();
        }
    }
}
