package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.consulserver.ConsulServer;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.health.PermitHealthIndicator;
import io.github.distributedpermit.ports.FreePorts;
import io.github.distributedpermit.testsupport.Detour;
import io.github.distributedpermit.testsupport.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.test.TestingServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.consul.ConsulAutoConfiguration;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Applications whose calls run without the store while a real one is killed or frozen, until it is back. */
@Execution(ExecutionMode.CONCURRENT) // each has a store and an application of its own, and mostly waits for one of them
class StoreFailureTest {

    private static final String INSTANCES = "distributed-permit.instances";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration KEPT = Duration.ofMillis(500);

    private static ApplicationContextRunner runner() {
        return Starts.plain()
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(Service.class)
                .withInitializer(CommandTimeout.ofMillis(500))
                .withPropertyValues(
                        "distributed-permit.defaults.store-timeout=2s",
                        "distributed-permit.lease=6s",
                        "distributed-permit.permits.from-settings.limit=1",
                        "distributed-permit.permits.from-settings.on-store-failure=allow",
                        "distributed-permit.permits.open.limit=1",
                        "distributed-permit.defaults.on-store-failure=local");
    }

    private static ApplicationContextRunner redis(RedisServer server) {
        return runner().withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues(
                        "distributed-permit.backend=redis",
                        "spring.data.redis.host=127.0.0.1",
                        "spring.data.redis.port=" + server.port());
    }

    private static void signal(String name, long pid) {
        try {
            int status =
                    new ProcessBuilder("kill", name, Long.toString(pid)).start().waitFor();
            assertThat(status).isZero();
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    @Test
    void redisIsKilledAndStartedAgain() {
        try (RedisServer server = RedisServer.started()) {
            outage(redis(server), server::stop, server::start);
        }
    }

    @Test
    void redisIsFrozenAndResumed() {
        try (RedisServer server = RedisServer.started()) {
            outage(redis(server), () -> signal("-STOP", server.pid()), () -> signal("-CONT", server.pid()));
        }
    }

    @Test
    void consulIsKilledAndStartedAgain() {
        try (ConsulServer server = ConsulServer.startOnDisk()) {
            outage(consul(server.address().getPort()), server::kill, () -> {
                server.launch();
                server.awaitLeader();
            });
        }
    }

    @Test
    void zooKeeperIsStoppedAndStartedAgain() throws Exception {
        try (TestingServer server = new TestingServer()) {
            outage(
                    runner().withPropertyValues(
                                    "distributed-permit.backend=zookeeper",
                                    "distributed-permit.zookeeper.connect-string=" + server.getConnectString()),
                    () -> quietly(server::stop),
                    () -> quietly(server::restart));
        }
    }

    @Test
    void databaseIsStoppedAndStartedAgain(@TempDir Path data) throws IOException {
        int port = FreePorts.some(1).get(0); // no connection has it while the server is stopped
        EmbeddedPostgres first = database(data).setPort(port).start();
        EmbeddedPostgres[] server = {first};
        try {
            outage(
                    database(first),
                    () -> quietly(() -> server[0].close()),
                    () -> quietly(() -> server[0] = database(data).setPort(port).start()));
        } finally {
            server[0].close();
        }
    }

    private static EmbeddedPostgres.Builder database(Path data) {
        return TestPostgres.builder().setDataDirectory(data).setCleanDataDirectory(false);
    }

    private static ApplicationContextRunner database(EmbeddedPostgres server) {
        return runner().withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
                .withPropertyValues(TestDatabase.settings(server, "postgres"));
    }

    @Test
    @Tag("slow")
    void databaseIsSilentAndAnswersAgain() throws IOException {
        try (EmbeddedPostgres server = TestPostgres.builder().start();
                Detour way = new Detour(server.getPort())) {
            outage(
                    database(server)
                            .withPropertyValues(
                                    "spring.datasource.url=jdbc:postgresql://127.0.0.1:" + way.port() + "/postgres"),
                    way::silence,
                    way::resume);
        }
    }

    @Test
    @Tag("slow")
    void consulIsSilentAndAnswersAgain() {
        try (ConsulServer server = ConsulServer.startOnDisk();
                Detour way = new Detour(server.address().getPort())) {
            outage(consul(way.port()), way::silence, way::resume);
        }
    }

    @Test
    @Tag("slow")
    void consulWithLockFilesIsSilentAndAnswersAgain() {
        try (ConsulServer server = ConsulServer.startOnDisk();
                Detour way = new Detour(server.address().getPort())) {
            outage(
                    consul(way.port()).withPropertyValues("distributed-permit.consul.layout=lock-file"),
                    way::silence,
                    way::resume);
        }
    }

    @Test
    @Tag("slow")
    void zooKeeperIsSilentAndAnswersAgain() throws Exception {
        try (TestingServer server = new TestingServer();
                Detour way = new Detour(server.getPort())) {
            outage(
                    runner().withPropertyValues(
                                    "distributed-permit.backend=zookeeper",
                                    "distributed-permit.zookeeper.connect-string=127.0.0.1:" + way.port()),
                    way::silence,
                    way::resume);
        }
    }

    private static ApplicationContextRunner consul(int port) {
        return runner().withConfiguration(AutoConfigurations.of(ConsulAutoConfiguration.class))
                .withPropertyValues(
                        "distributed-permit.backend=consul",
                        "distributed-permit.lease=15s",
                        "spring.cloud.consul.port=" + port);
    }

    private interface Step {
        void run() throws Exception;
    }

    private static void quietly(Step step) {
        try {
            step.run();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static void outage(ApplicationContextRunner runner, Runnable down, Runnable up) {
        runner.run(one -> runner.run(other -> {
            assertThat(one).hasNotFailed();
            Instance a = new Instance(one);
            Instance b = new Instance(other);
            await().atMost(PATIENCE).until(() -> a.instances() == 2);
            // each has to see the other as well, which it does three times per lease
            await().pollDelay(Duration.ofSeconds(7)).atMost(PATIENCE).until(() -> a.instances() == 2);

            down.run();
            List<Permit> held = new ArrayList<>();
            held.add(a.awaitWithoutStore());
            held.add(b.awaitWithoutStore());
            for (Instance each : List.of(a, b)) {
                assertThatExceptionOfType(PermitRejectedException.class)
                        .isThrownBy(each.service::local)
                        .withMessageContaining("only its share");
                assertThatExceptionOfType(PermitBackendException.class).isThrownBy(each.service::fail);
                assertThat(each.service.allow()).isEqualTo("done");
                each.permits
                        .named("from-settings")
                        .tryAcquire("k")
                        .orElseThrow()
                        .release();
                assertThat(each.gauge("distributed.permit.store.bypassed")).isEqualTo(1);
                assertThat(each.gauge("distributed.permit.holders.without.store", "shared"))
                        .isEqualTo(1);
                assertThat(each.outageGrants("allow")).isEqualTo(1);
                assertThat(each.health.health().getStatus()).isEqualTo(Status.DOWN);
                assertThat(each.health.health().getDetails()).containsKey("bypassed");
            }
            assertThat(a.takesOpen() ^ b.takesOpen())
                    .as("one of the two has the share of one permit")
                    .isTrue();
            a.reactiveCallsShareToo();
            a.callsThatEndBadlyGiveTheirShareBack();

            up.run();
            await().atMost(PATIENCE)
                    .until(() -> a.gauge("distributed.permit.store.bypassed") == 0
                            && b.gauge("distributed.permit.store.bypassed") == 0);
            // the calls that run are recorded, so a third finds no permit
            await().atMost(PATIENCE).until(() -> a.used("shared") == 2);
            assertThat(held).allMatch(Permit::isHeld);
            assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(a.service::local);
            held.forEach(Permit::release);
            await().atMost(PATIENCE)
                    .ignoreExceptionsInstanceOf(PermitRejectedException.class)
                    .ignoreExceptionsInstanceOf(PermitBackendException.class)
                    .untilAsserted(() -> assertThat(a.service.token()).isNotZero());
            await().atMost(PATIENCE).until(() -> a.used("shared") == 0);
        }));
    }

    @Test
    void anApplicationThatStartsWithoutItsStoreRunsOnlyWhatNeedsNoShare() {
        RedisServer server = RedisServer.create();
        redis(server).run(context -> {
            Instance a = new Instance(context);
            await().atMost(PATIENCE)
                    .ignoreExceptionsInstanceOf(PermitBackendException.class)
                    .untilAsserted(() -> assertThat(a.service.allow()).isEqualTo("done"));
            assertThatExceptionOfType(PermitBackendException.class)
                    .isThrownBy(a.service::local)
                    .withMessageContaining("never reached the store");
            server.start();
            await().atMost(PATIENCE)
                    .ignoreExceptionsInstanceOf(PermitBackendException.class)
                    .untilAsserted(() -> assertThat(a.service.token()).isNotZero());
        });
        server.close();
    }

    /** One of the applications. */
    private static final class Instance {

        final Service service;
        final Permits permits;
        final PermitHealthIndicator health;
        private final PermitEngine engine;
        private final MeterRegistry meters;

        Instance(AssertableApplicationContext context) {
            service = context.getBean(Service.class);
            permits = context.getBean(Permits.class);
            health = context.getBean(PermitHealthIndicator.class);
            engine = context.getBean(PermitEngine.class);
            meters = context.getBean(MeterRegistry.class);
        }

        int instances() {
            return used(INSTANCES);
        }

        int used(String key) {
            try {
                return engine.inspect(key)
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS)
                        .used();
            } catch (Exception e) {
                return -1;
            }
        }

        /** A permit of this instance's share, once it has found out about the outage. */
        Permit awaitWithoutStore() {
            PermitRequest request = PermitRequest.builder("shared")
                    .withoutWaiting()
                    .onStoreFailure(OnStoreFailure.LOCAL)
                    .build();
            List<Permit> got = new ArrayList<>();
            await().atMost(PATIENCE)
                    .ignoreExceptionsInstanceOf(PermitBackendException.class)
                    .until(() -> {
                        Optional<Permit> permit = permits.named("shared").tryAcquire(request);
                        boolean without =
                                permit.isPresent() && permit.get().token().version() == 0;
                        if (without) {
                            got.add(permit.get());
                        } else {
                            permit.ifPresent(Permit::release);
                        }
                        return without;
                    });
            return got.get(0);
        }

        boolean takesOpen() throws InterruptedException {
            try {
                Optional<Permit> permit = permits.named("open").tryAcquire("open-key");
                permit.ifPresent(Permit::release);
                return permit.isPresent();
            } catch (PermitBackendException e) {
                return false;
            }
        }

        double gauge(String name) {
            return meters.get(name).gauge().value();
        }

        double gauge(String name, String permit) {
            return meters.get(name).tag("name", permit).gauge().value();
        }

        double outageGrants(String permit) {
            return meters.get("distributed.permit.grants")
                    .tag("name", permit)
                    .tag("via", "outage")
                    .counter()
                    .count();
        }

        /** By an error, by an interrupt while it waits, and one that keeps its permit for a while after it. */
        void callsThatEndBadlyGiveTheirShareBack() throws Exception {
            for (int i = 0; i < 3; i++) {
                assertThatExceptionOfType(StackOverflowError.class).isThrownBy(service::overflow);
            }
            CountDownLatch inside = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            FutureTask<String> holds = inThread(() -> service.blocking(inside, end));
            assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();
            FutureTask<String> waits = new FutureTask<>(() -> service.blocking(inside, end));
            Thread waiting = new Thread(waits, "waits");
            waiting.start();
            await().until(() ->
                    waiting.getState() == Thread.State.WAITING || waiting.getState() == Thread.State.TIMED_WAITING);
            waiting.interrupt();
            assertThat(waits)
                    .failsWithin(Duration.ofSeconds(20))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(InterruptedException.class);
            end.countDown();
            assertThat(holds).succeedsWithin(Duration.ofSeconds(20));
            assertThat(inThread(() -> service.blocking(inside, end))).succeedsWithin(Duration.ofSeconds(20));

            long from = System.nanoTime();
            assertThat(service.kept()).isEqualTo("done");
            await().ignoreExceptionsInstanceOf(PermitRejectedException.class)
                    .untilAsserted(() -> assertThat(service.kept()).isEqualTo("done"));
            assertThat(Duration.ofNanos(System.nanoTime() - from)).isGreaterThanOrEqualTo(KEPT);
        }

        private static FutureTask<String> inThread(Callable<String> work) {
            FutureTask<String> task = new FutureTask<>(work);
            new Thread(task, "caller").start();
            return task;
        }

        /** A call that returns a Mono waits for the one that runs, without a thread; one that returns a future too. */
        void reactiveCallsShareToo() throws Exception {
            Disposable running = service.mono(Mono.never()).subscribe();
            await().until(() -> service.running() == 1);
            CompletableFuture<@Nullable String> waiting =
                    service.mono(Mono.just("done")).toFuture();
            assertThat(waiting).isNotDone();
            running.dispose();
            assertThat(waiting.get(20, TimeUnit.SECONDS)).isEqualTo("done");
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> first = service.stage(work);
            CompletableFuture<String> second = service.stage(CompletableFuture.completedFuture("second"));
            assertThat(second).isNotDone();
            work.complete("first");
            assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo("first");
            assertThat(second.get(20, TimeUnit.SECONDS)).isEqualTo("second");
        }
    }

    static class Service {

        private final AtomicInteger running = new AtomicInteger();

        public int running() {
            return running.get();
        }

        @DistributedPermit(key = "shared", limit = 2, block = false, onStoreFailure = OnStoreFailure.LOCAL)
        public String local() {
            return "done";
        }

        @DistributedPermit(key = "shared", limit = 2, block = false, onStoreFailure = OnStoreFailure.LOCAL)
        public long token() {
            return Permits.current().orElseThrow().token().version();
        }

        @DistributedPermit(key = "allow", limit = 1, block = false, onStoreFailure = OnStoreFailure.ALLOW)
        public String allow() {
            return "done";
        }

        @DistributedPermit(key = "fail", limit = 1, block = false, onStoreFailure = OnStoreFailure.FAIL)
        public String fail() {
            return "done";
        }

        @DistributedPermit(key = "overflow", limit = 2, block = false)
        public String overflow() {
            throw new StackOverflowError();
        }

        @DistributedPermit(key = "blocking", limit = 2)
        public String blocking(CountDownLatch inside, CountDownLatch end) throws InterruptedException {
            inside.countDown();
            end.await();
            return "done";
        }

        @DistributedPermit(key = "kept", limit = 2, block = false, holdAtLeast = "500ms")
        public String kept() {
            return "done";
        }

        @DistributedPermit(key = "mono", limit = 2)
        public Mono<String> mono(Mono<String> work) {
            return work.doOnSubscribe(subscription -> running.incrementAndGet());
        }

        @DistributedPermit(key = "stage", limit = 2)
        public CompletableFuture<String> stage(CompletableFuture<String> work) {
            return work;
        }
    }
}
