package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnLoss;
import io.github.distributedpermit.OnReject;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.consul.ConsulAutoConfiguration;
import org.springframework.core.annotation.MergedAnnotations;

/**
 * Applications that do not start, and what each of them says. The page {@code docs/wrong-configurations.md} has the messages;
 * {@code -Dpermit.documents=true} writes it anew.
 */
class WrongConfigurationsTest {

    private static final Path PAGE = Path.of("..", "docs", "wrong-configurations.md");
    private static final String BEGIN = "<!-- from the test: begin -->\n";
    private static final String END = "<!-- from the test: end -->\n";

    /** Below {@code distributed-permit.}, for any backend. */
    private static final String SETTINGS = """
            backend=etcd
            lease=50ms
            lease=0s
            lease=-15s
            lease=400d
            lease=soon
            defaults.store-timeout=0s
            defaults.store-timeout=-1s
            defaults.store-timeout=400d
            defaults.linger=6s
            defaults.release=maybe
            key-prefix=a{b}
            key-prefix=a b
            key-prefix=
            log.long-hold=-1s
            log.long-wait=-1s
            metrics.fleet-refresh=-1s
            enabled=perhaps
            fail-fast=perhaps
            permits.x.limit=0
            permits.x.limit=-3
            permits.x.limit=1000001
            permits.x.limit=few
            permits.x.block=perhaps
            permits.x.timeout=-1s
            permits.x.timeout=400d
            permits.x.timeout=later
            permits.x.store-timeout=1ms
            permits.x.linger=-1ms
            permits.x.release=maybe
            permits.x.on-reject=ignore
            permits.x.on-store-failure=ignore
            permits.x.hold-at-least=-1s
            permits.x.head-start=2h
            permits.x.max-waiting=0
            permits.x.max-waiting=many
            defaults.max-waiting=0
            defaults.limit=5
            defaults.block=false
            defaults.within=total
            defaults.timeout=-1s
            defaults.linger=-1ms
            defaults.head-start=1s
            defaults.hold-at-least=1s
            defaults.on-reject=skip
            """;

    private static final String CONSUL_SETTINGS = """
            distributed-permit.lease=9s
            distributed-permit.lease=2d
            distributed-permit.consul.layout=tree
            distributed-permit.key-prefix=.hidden
            spring.cloud.consul.scheme=ftp
            spring.cloud.consul.host=user:secret@consul
            spring.cloud.consul.enabled=false
            """;

    private static final String ZOOKEEPER_SETTINGS = """
            distributed-permit.zookeeper.connect-string=localhost:port
            distributed-permit.key-prefix=a//b
            """;

    private static final String REDIS_SETTINGS = """
            spring.data.redis.client-type=jedis
            distributed-permit.redis.grace=perhaps
            distributed-permit.redis.new-server-grace=-1s
            distributed-permit.redis.wait-for-replica=perhaps
            """;

    @Test
    void everyWrongConfigurationSaysWhatIsWrongAndWhatToDo() throws IOException {
        List<Row> rows = Stream.of(
                        settings(
                                SETTINGS.lines().map(line -> "distributed-permit." + line),
                                "local",
                                r -> withAll(DistributedPermitDisabledAutoConfiguration.class)
                                        .apply(r)
                                        .withBean(SimpleMeterRegistry.class)),
                        settings(REDIS_SETTINGS.lines(), "redis", withAll(DataRedisAutoConfiguration.class)),
                        Stream.of(row(
                                "`distributed-permit.redis.wait-for-replica=true` with a Redis Cluster",
                                withAll(DataRedisAutoConfiguration.class)
                                        .apply(Starts.plain())
                                        .withPropertyValues(
                                                "distributed-permit.backend=redis",
                                                "distributed-permit.redis.wait-for-replica=true",
                                                "spring.data.redis.cluster.nodes=127.0.0.1:1"))),
                        Stream.of(row(
                                "`distributed-permit.backend=redis` with Jedis and without Lettuce",
                                Starts.plain()
                                        .withClassLoader(new FilteredClassLoader("io.lettuce"))
                                        .withPropertyValues("distributed-permit.backend=redis"))),
                        settings(CONSUL_SETTINGS.lines(), "consul", withAll(ConsulAutoConfiguration.class)),
                        settings(ZOOKEEPER_SETTINGS.lines(), "zookeeper", r -> r),
                        Arrays.stream(WrongConfigurationsTest.class.getDeclaredClasses())
                                .filter(type -> !type.isRecord())
                                .sorted((one, other) -> one.getSimpleName().compareTo(other.getSimpleName()))
                                .map(WrongConfigurationsTest::bean))
                .flatMap(each -> each)
                .toList();
        String table = rows.stream()
                .map(Row::text)
                .collect(Collectors.joining(
                        "\n", "| wrong | what the application says | and what to do |\n|---|---|---|\n", "\n"));

        assertThat(rows).hasSizeGreaterThanOrEqualTo(80).allSatisfy(row -> {
            assertThat(row.problem()).as(row.wrong()).isNotBlank().doesNotContain("secret");
            assertThat(row.remedy()).as(row.wrong()).isNotBlank().doesNotContain("secret");
        });
        assertThat(page(table))
                .as("%s is written anew with -Dtest=WrongConfigurationsTest -Dpermit.documents=true", PAGE)
                .isEqualTo(table);
    }

    /** The table on the page, which this writes anew if asked for. */
    private static String page(String table) throws IOException {
        String page = Files.readString(PAGE);
        int from = page.indexOf(BEGIN) + BEGIN.length();
        int to = page.indexOf(END);
        assertThat(from).as(BEGIN).isGreaterThanOrEqualTo(BEGIN.length());
        assertThat(to).as(END).isGreaterThanOrEqualTo(from);
        if (Boolean.getBoolean("permit.documents")) {
            Files.writeString(PAGE, page.substring(0, from) + table + page.substring(to));
            return table;
        }
        return page.substring(from, to);
    }

    private static UnaryOperator<ApplicationContextRunner> withAll(Class<?> configuration) {
        return runner -> runner.withConfiguration(AutoConfigurations.of(configuration));
    }

    private static Stream<Row> settings(
            Stream<String> lines, String backend, UnaryOperator<ApplicationContextRunner> surroundings) {
        return lines.map(line -> row(
                "`" + line.replaceAll("secret", "...") + "`" + (backend.equals("local") ? "" : " with " + backend),
                surroundings
                        .apply(Starts.plain())
                        .withPropertyValues("distributed-permit.backend=" + backend)
                        .withPropertyValues(line)));
    }

    private static Row bean(Class<?> type) {
        return row("`" + source(type) + "`", Starts.local().withBean(type));
    }

    private static Row row(String wrong, ApplicationContextRunner runner) {
        try {
            FailureAnalysis analysis = Starts.analysis(runner);
            return new Row(
                    wrong, line(analysis.getDescription()), line(Objects.requireNonNullElse(analysis.getAction(), "")));
        } catch (AssertionError started) { // so that the test names all applications that start
            return new Row(wrong, "it starts", "");
        }
    }

    private static String line(String text) {
        return text.strip()
                .replace(WrongConfigurationsTest.class.getName() + "$", "")
                .replace(WrongConfigurationsTest.class.getSimpleName() + "$", "")
                .replace(WrongConfigurationsTest.class.getSimpleName() + ".", "")
                .replaceAll("\\s*\\n\\s*", " ")
                .replaceAll(
                        "Reason: (failed to convert)? *.*?\\(caused by .*",
                        "Reason: $1") // the words of Spring and the JDK
                .replace("|", "\\|")
                .replace("<", "&lt;");
    }

    /** The annotation as it is written, with the method or type below it. */
    private static String source(Class<?> type) {
        Method method = Arrays.stream(type.getDeclaredMethods())
                .filter(each -> !each.isSynthetic() && each.isAnnotationPresent(DistributedPermit.class))
                .findFirst()
                .orElse(null);
        AnnotatedElement annotated = method == null ? type : method;
        String attributes =
                MergedAnnotations.from(annotated)
                        .get(DistributedPermit.class)
                        .filterDefaultValues()
                        .asMap()
                        .entrySet()
                        .stream()
                        .sorted((one, other) -> one.getKey().compareTo(other.getKey()))
                        .map(each -> each.getKey() + " = "
                                + (each.getValue() instanceof String text ? "\"" + text + "\"" : each.getValue()))
                        .collect(Collectors.joining(", "));
        String declared = method == null
                ? Modifier.toString(type.getModifiers() & Modifier.FINAL) + " class " + type.getSimpleName()
                : Modifier.toString(method.getModifiers()) + " "
                        + method.getReturnType().getSimpleName() + " call("
                        + Arrays.stream(method.getParameters())
                                .map(parameter -> parameter.getType().getSimpleName() + " " + parameter.getName())
                                .collect(Collectors.joining(", "))
                        + ")";
        return "@DistributedPermit(" + attributes + ") " + declared.strip();
    }

    private record Row(String wrong, String problem, String remedy) {

        String text() {
            return "| " + wrong.replace("|", "\\|") + " | " + problem + " | " + remedy + " |";
        }
    }

    static class WithinItself {

        @DistributedPermit(key = "k", limit = 1, within = "k")
        public void call() {}
    }

    static class WithinAnUnknownPermit {

        @DistributedPermit(key = "k", limit = 1, within = "total")
        public void call() {}
    }

    static class HeadStartOfTwoHours {

        @DistributedPermit(key = "k", limit = 1, headStart = "2h")
        public void call() {}
    }

    static class HeadStartOfAnUnknownParameter {

        @DistributedPermit(key = "k", limit = 1, headStart = "#{#urgent ? '30s' : '0s'}")
        public void call(boolean important) {}
    }

    static class HeadStartWithoutWaiting {

        @DistributedPermit(key = "k", limit = 1, block = false, headStart = "30s")
        public void call() {}
    }

    static class WeightWithoutGroups {

        @DistributedPermit(key = "k", limit = 1, fairWeight = "3")
        public void call() {}
    }

    static class LimitOfAnUnknownParameter {

        @DistributedPermit(key = "k", limitString = "#{#plan == 'premium' ? 10 : 3}")
        public void call(String tenant) {}
    }

    static class LimitOfZero {

        @DistributedPermit(key = "k", limit = 0)
        public void call() {}
    }

    static class NegativeLimit {

        @DistributedPermit(key = "k", limit = -5)
        public void call() {}
    }

    static class LimitAboveAMillion {

        @DistributedPermit(key = "k", limit = 1_000_001)
        public void call() {}
    }

    static class LimitStringThatIsNoNumber {

        @DistributedPermit(key = "k", limitString = "many")
        public void call() {}
    }

    static class LimitStringOutOfRange {

        @DistributedPermit(key = "k", limitString = "0")
        public void call() {}
    }

    static class LimitTwice {

        @DistributedPermit(key = "k", limit = 2, limitString = "3")
        public void call() {}
    }

    static class PlaceholderThatNothingResolves {

        @DistributedPermit(key = "k", limitString = "${app.limit}")
        public void call() {}
    }

    static class NoLimit {

        @DistributedPermit(key = "k")
        public void call() {}
    }

    static class BlankKey {

        @DistributedPermit(key = " ", limit = 1)
        public void call() {}
    }

    static class KeyOfSpringCache {

        @DistributedPermit(key = "#id", limit = 1)
        public void call(String id) {}
    }

    static class KeyWithASumOfSpringCache {

        @DistributedPermit(key = "'tenant-' + #id", limit = 1)
        public void call(String id) {}
    }

    static class KeyThatDoesNotParse {

        @DistributedPermit(key = "#{#id", limit = 1)
        public void call(String id) {}
    }

    static class KeyOfAnUnknownParameter {

        @DistributedPermit(key = "#{#ident}", limit = 1)
        public void call(String id) {}
    }

    static class KeyWithAType {

        @DistributedPermit(key = "#{T(System).getenv()}", limit = 1)
        public void call(String id) {}
    }

    static class KeyThatCouldHideANull {

        @DistributedPermit(key = "#{('a-' + #id).trim()}", limit = 1)
        public void call(String id) {}
    }

    static class PlaceholderInAKey {

        @DistributedPermit(key = "${app.key}", limit = 1)
        public void call() {}
    }

    static class NoPermits {

        @DistributedPermit(key = "k", limit = 1, permits = 0)
        public void call() {}
    }

    static class MorePermitsThanTheLimit {

        @DistributedPermit(key = "k", limit = 2, permits = 3)
        public void call() {}
    }

    static class TimeoutWithoutSense {

        @DistributedPermit(key = "k", limit = 1, timeout = "soon")
        public void call() {}
    }

    static class NegativeTimeout {

        @DistributedPermit(key = "k", limit = 1, timeout = "-1s")
        public void call() {}
    }

    static class HoldAtLeastWithoutSense {

        @DistributedPermit(key = "k", limit = 1, holdAtLeast = "a while")
        public void call() {}
    }

    static class MissingFallback {

        @DistributedPermit(key = "k", limit = 1, fallback = "nowhere")
        public String call(long id) {
            return "";
        }
    }

    static class FallbackOfAnUnknownBean {

        @DistributedPermit(key = "k", limit = 1, fallback = "unknown::cached")
        public String call(long id) {
            return "";
        }
    }

    static class FallbackToItself {

        @DistributedPermit(key = "k", limit = 1, fallback = "call")
        public String call(long id) {
            return "";
        }
    }

    static class FallbackOfAnotherType {

        @DistributedPermit(key = "k", limit = 1, fallback = "instead")
        public String call(long id) {
            return "";
        }

        public int instead(long id) {
            return 0;
        }
    }

    static class SkippedPrimitive {

        @DistributedPermit(key = "k", limit = 1, block = false, onReject = OnReject.SKIP)
        public int call() {
            return 0;
        }
    }

    static class PrivateMethod {

        @DistributedPermit(key = "k", limit = 1)
        private void call() {}
    }

    static class StaticMethod {

        @DistributedPermit(key = "k", limit = 1)
        public static void call() {}
    }

    static class FinalMethod {

        @DistributedPermit(key = "k", limit = 1)
        public final void call() {}
    }

    static class StreamOfRows {

        @DistributedPermit(key = "k", limit = 1)
        public Stream<String> call() {
            return Stream.empty();
        }
    }

    static class InterruptOfAFuture {

        @DistributedPermit(key = "k", limit = 1, onLoss = OnLoss.INTERRUPT)
        public CompletableFuture<String> call() {
            return new CompletableFuture<>();
        }
    }

    static class ReentrantFuture {

        @DistributedPermit(key = "k", limit = 1, reentrant = true)
        public CompletableFuture<String> call() {
            return new CompletableFuture<>();
        }
    }

    static class SubtypeOfAFuture {

        @DistributedPermit(key = "k", limit = 1)
        public FutureTask<String> call() {
            return new FutureTask<>(() -> "");
        }
    }

    @DistributedPermit(key = "k", limit = 1)
    static final class FinalClass {

        public void call() {}
    }

    @DistributedPermit(key = "k", limit = 1)
    static class StreamInALimitedClass {

        public Stream<String> call() {
            return Stream.empty();
        }
    }
}
