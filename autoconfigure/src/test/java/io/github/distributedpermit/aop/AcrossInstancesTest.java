package io.github.distributedpermit.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnReject;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.CommandTimeout;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Two instances on a real Redis. */
@ExtendWith({RedisExtension.class, OutputCaptureExtension.class})
class AcrossInstancesTest {

    /** Those of Spring, which logs what a scheduled method throws, and of the library, in full or shortened. */
    private static final Pattern LOGGERS =
            Pattern.compile("\\b(org\\.springframework|o\\.s|io\\.github\\.distributedpermit|i\\.g\\.d)\\.");

    private static final int TICKS = 60;
    private static final Duration AT_LEAST = Duration.ofMillis(40);

    @Test
    void reactiveCallWaitsForTheOtherInstance(RedisServer server) {
        ApplicationContextRunner runner = on(server).withBean(Service.class);
        runner.run(one -> runner.run(other -> {
            Service here = one.getBean(Service.class);
            Service elsewhere = other.getBean(Service.class);
            Disposable held = here.mono(Mono.never()).subscribe();
            await().until(() -> here.calls() == 1);
            CompletableFuture<@Nullable String> waiting =
                    elsewhere.mono(Mono.just("done")).toFuture();
            Disposable left = elsewhere.mono(Mono.just("never")).subscribe();
            left.dispose();
            assertThat(waiting).isNotDone();
            held.dispose();
            assertThat(waiting.get(20, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(elsewhere.calls()).isEqualTo(1);
        }));
    }

    @Test
    void futureWaitsForTheOtherInstance(RedisServer server) {
        ApplicationContextRunner runner = on(server).withBean(Service.class);
        runner.run(one -> runner.run(other -> {
            Service here = one.getBean(Service.class);
            Service elsewhere = other.getBean(Service.class);
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> held = here.future(work);
            await().until(() -> here.calls() == 1);
            CompletableFuture<String> waiting = elsewhere.future(CompletableFuture.completedFuture("done"));
            assertThat(waiting).isNotDone();
            assertThat(elsewhere.calls()).isZero();
            work.complete("first");
            assertThat(held.get(20, TimeUnit.SECONDS)).isEqualTo("first");
            assertThat(waiting.get(20, TimeUnit.SECONDS)).isEqualTo("done");
        }));
    }

    /**
     * All instances tick at the same moments. A tick runs again only on an instance that comes to it later than
     * {@code holdAtLeast} after its first run, which a machine that stands still may do.
     */
    @Test
    void scheduledJobRunsOnOneInstanceAtATime(RedisServer server, CapturedOutput output) {
        Overlap overlap = new Overlap();
        List<Run> runs = new ArrayList<>();
        ApplicationContextRunner runner = on(server)
                .withBean(Overlap.class, () -> overlap)
                .withBean(Job.class)
                .withUserConfiguration(Scheduling.class);
        runner.run(one -> runner.run(other -> {
            await().atMost(60, TimeUnit.SECONDS)
                    .until(() -> one.getBean(Job.class).ticks() >= TICKS
                            && other.getBean(Job.class).ticks() >= TICKS);
            // before the end of the contexts, which returns permits before their minimum time has passed
            runs.addAll(overlap.ticks);
            assertThat(output.toString().lines())
                    .noneMatch(line -> line.contains("PermitRejectedException")
                            || (line.contains("ERROR") && LOGGERS.matcher(line).find()));
        }));
        assertThat(overlap.runs).hasPositiveValue();
        assertThat(overlap.most).hasValue(1);
        runs.sort(Comparator.comparing(Run::began));
        assertThat(runs).hasSizeGreaterThan(TICKS / 10);
        for (int i = 1; i < runs.size(); i++) {
            Duration between =
                    Duration.ofNanos(runs.get(i).began() - runs.get(i - 1).called());
            assertThat(between).as("run %d", i).isGreaterThanOrEqualTo(AT_LEAST);
        }
    }

    @Test
    void callsThatNameTheSamePermitsInAnotherOrderDoNotWaitForEachOther(RedisServer server) {
        ApplicationContextRunner runner = on(server).withBean(Service.class);
        runner.run(one -> runner.run(other -> {
            Service here = one.getBean(Service.class);
            Service elsewhere = other.getBean(Service.class);
            CompletableFuture.allOf(
                            CompletableFuture.runAsync(() -> repeat(here::firstAndSecond)),
                            CompletableFuture.runAsync(() -> repeat(elsewhere::secondAndFirst)))
                    .get(60, TimeUnit.SECONDS);
            assertThat(here.calls()).isEqualTo(TICKS);
            assertThat(elsewhere.calls()).isEqualTo(TICKS);
        }));
    }

    @Test
    void callsOfOneTenantThatWaitHoldNoPermitThatAnotherTenantNeeds(RedisServer server) {
        ApplicationContextRunner runner = on(server).withBean(Service.class);
        runner.run(one -> runner.run(other -> {
            List<Service> services = List.of(one.getBean(Service.class), other.getBean(Service.class));
            CompletableFuture<String> work = new CompletableFuture<>();
            List<CompletableFuture<String>> busy = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                busy.add(services.get(i % 2).export("busy", work));
            }
            await().until(() -> services.get(0).calls() + services.get(1).calls() == 3);
            Permits permits = one.getBean(Permits.class);
            await().until(() ->
                    permits.named("across-tenant").state("across-tenant-busy").waiting() > 0);

            CompletableFuture<String> quiet =
                    services.get(1).export("quiet", CompletableFuture.completedFuture("done"));

            assertThat(quiet.get(20, TimeUnit.SECONDS)).isEqualTo("done");
            work.complete("done");
            CompletableFuture.allOf(busy.toArray(CompletableFuture<?>[]::new)).get(60, TimeUnit.SECONDS);
        }));
    }

    private static void repeat(Runnable call) {
        for (int i = 0; i < TICKS; i++) {
            call.run();
        }
    }

    private static ApplicationContextRunner on(RedisServer server) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class,
                        PropertyPlaceholderAutoConfiguration.class,
                        DataRedisAutoConfiguration.class,
                        DistributedPermitAutoConfiguration.class))
                .withInitializer(CommandTimeout.ofSeconds(5))
                .withPropertyValues(
                        "distributed-permit.backend=redis",
                        "spring.data.redis.host=127.0.0.1",
                        "spring.data.redis.port=" + server.port());
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    /**
     * A run of the job for one tick.
     *
     * @param called when the instance called the job, before it had a permit
     * @param began when the job began
     */
    record Run(long called, long began) {}

    static final class Overlap {

        private final Queue<Run> ticks = new ConcurrentLinkedQueue<>();
        private final AtomicInteger running = new AtomicInteger();
        private final AtomicInteger runs = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();

        void enter() {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            runs.incrementAndGet();
        }

        void leave() {
            running.decrementAndGet();
        }
    }

    static class Job {

        private final Overlap overlap;
        private final ObjectProvider<Job> self;
        private final AtomicInteger ticks = new AtomicInteger();

        Job(Overlap overlap, ObjectProvider<Job> self) {
            this.overlap = overlap;
            this.self = self;
        }

        int ticks() {
            return ticks.get();
        }

        @Scheduled(fixedRate = 50)
        public void tick() {
            self.getObject().once(System.nanoTime());
            ticks.incrementAndGet();
        }

        @DistributedPermit(
                key = "across-tick",
                limit = 1,
                block = false,
                onReject = OnReject.SKIP,
                holdAtLeast = "40ms")
        public void once(long called) {
            overlap.ticks.add(new Run(called, System.nanoTime()));
        }

        @Scheduled(fixedRate = 50)
        @DistributedPermit(key = "across-job", limit = 1, block = false, holdAtLeast = "20ms")
        public void run() {
            overlap.enter();
            Thread.onSpinWait();
            overlap.leave();
        }
    }

    static class Service {

        private final AtomicInteger calls = new AtomicInteger();

        int calls() {
            return calls.get();
        }

        @DistributedPermit(key = "across-1", limit = 1)
        @DistributedPermit(key = "across-2", limit = 1)
        public void firstAndSecond() {
            calls.incrementAndGet();
        }

        @DistributedPermit(key = "across-2", limit = 1)
        @DistributedPermit(key = "across-1", limit = 1)
        public void secondAndFirst() {
            calls.incrementAndGet();
        }

        @DistributedPermit(key = "across-all", limit = 20)
        @DistributedPermit(key = "across-tenant-#{#tenant}", name = "across-tenant", limit = 3)
        public CompletableFuture<String> export(String tenant, CompletableFuture<String> work) {
            calls.incrementAndGet();
            return work;
        }

        @DistributedPermit(key = "across", limit = 1)
        public Mono<String> mono(Mono<String> work) {
            calls.incrementAndGet();
            return work;
        }

        @DistributedPermit(key = "across", limit = 1)
        public CompletableFuture<String> future(CompletableFuture<String> work) {
            calls.incrementAndGet();
            return work;
        }
    }
}
