package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.PermitState;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.CommandTimeout;
import io.github.distributedpermit.autoconfigure.CuttableBackend;
import io.github.distributedpermit.autoconfigure.CuttableBackend.Line;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.endpoint.StackCallers;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.CallView.Place;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitGauges;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** All attributes about tenants and urgency together, of every kind of method. */
@Timeout(60)
class TenantAttributesTest {

    private static final PermitRequest EXPECTED = PermitRequest.builder("tenant-t")
            .permits(2)
            .timeout(Duration.ofSeconds(7))
            .onStoreFailure(OnStoreFailure.ALLOW)
            .headStart(Duration.ofSeconds(30))
            .limit(5)
            .fairBy("t")
            .fairWeight(3)
            .build();

    private final ApplicationContextRunner runner = local().withUserConfiguration(Tasks.class);

    enum Kind {
        THREAD(exports -> exports.onThread("t"), true, Place.ON_THREAD),
        FUTURE(exports -> exports.future("t"), false, Place.ELSEWHERE),
        MONO(exports -> exports.mono("t").subscribe(), true, Place.ELSEWHERE),
        FLUX(exports -> exports.flux("t").subscribe(), true, Place.ELSEWHERE),
        ASYNC(exports -> exports.async("t"), true, Place.ON_THREAD),
        ASYNC_FUTURE(exports -> exports.asyncFuture("t"), false, Place.UNKNOWN);

        private final Consumer<Exports> call;

        /** Futures do not: the start is refused, since they may outlive the permit of their caller. */
        private final boolean joins;

        /** Where operators see the call, from the thread that made it. */
        private final Place place;

        Kind(Consumer<Exports> call, boolean joins, Place place) {
            this.call = call;
            this.joins = joins;
            this.place = place;
        }
    }

    @ParameterizedTest
    @EnumSource
    void reachThePermit(Kind kind) {
        runner.withBean(RecordingPermits.class).withBean(Exports.class).run(context -> {
            kind.call.accept(context.getBean(Exports.class));
            assertAsked(context.getBean(RecordingPermits.class), kind.joins);
        });
    }

    @Test
    void ofAScheduledMethodReachThePermit() {
        runner.withBean(RecordingPermits.class)
                .withBean(Job.class)
                .run(context -> assertAsked(context.getBean(RecordingPermits.class), true));
    }

    private static void assertAsked(RecordingPermits permits, boolean reentrant) {
        await().until(() -> !permits.requests.isEmpty());
        PermitRequest request = permits.requests.get(0);
        assertThat(request)
                .usingRecursiveComparison()
                .ignoringFields("name", "reentrant", "calledBy")
                .isEqualTo(EXPECTED);
        assertThat(request.reentrant()).isEqualTo(reentrant);
    }

    @ParameterizedTest
    @EnumSource
    void takeThePermitsAroundToo(Kind kind) {
        withTotal().withBean(Exports.class).run(context -> {
            Exports exports = context.getBean(Exports.class);
            PermitEngine engine = context.getBean(PermitEngine.class);
            engine.describeCallersBy(new StackCallers(() -> null, System::nanoTime));
            CompletableFuture<Void> caller = CompletableFuture.runAsync(() -> kind.call.accept(exports));
            assertHeld(context.getBean(Permits.class));
            for (String key : List.of("tenant-t", "total")) {
                await(key)
                        .untilAsserted(() -> assertThat(engine.calls(key, 10))
                                .extracting(CallView::place)
                                .containsExactly(kind.place));
            }
            exports.open();
            assertFree(context.getBean(Permits.class));
            caller.join();
        });
    }

    @Test
    void ofAScheduledMethodTakeThePermitsAroundToo() {
        withTotal().withBean(Job.class).run(context -> {
            assertHeld(context.getBean(Permits.class));
            context.getBean(Job.class).open();
            assertFree(context.getBean(Permits.class));
        });
    }

    @ParameterizedTest
    @EnumSource
    void waitWhileAnOperatorHasPausedTheKeyAndHaveTheLimitOfTheOperatorThen(Kind kind) {
        withTotal().withBean(Exports.class).run(context -> {
            PermitEngine engine = context.getBean(PermitEngine.class);
            Permits permits = context.getBean(Permits.class);
            engine.override("tenant-t", OverrideLimit.of(0))
                    .toCompletableFuture()
                    .join();
            Exports exports = context.getBean(Exports.class);
            CompletableFuture<Void> caller = CompletableFuture.runAsync(() -> kind.call.accept(exports));
            await().until(() -> permits.named("tenant").state("tenant-t").waiting() == 1);
            assertThat(permits.state("total").inUse()).isZero();
            engine.override("tenant-t", OverrideLimit.of(3))
                    .toCompletableFuture()
                    .join();
            assertHeld(permits, 3);
            exports.open();
            assertFree(permits);
            caller.join();
        });
    }

    @ParameterizedTest
    @EnumSource
    void runWithoutTheStoreWhileItDoesNotAnswer(Kind kind) {
        CuttableBackend backend = new CuttableBackend();
        withTotal()
                .withBean(PermitBackend.class, () -> backend)
                .withInitializer(CommandTimeout.ofMillis(300))
                .withPropertyValues(
                        "distributed-permit.lease=6s",
                        "distributed-permit.defaults.store-timeout=1s",
                        "distributed-permit.permits.total.on-store-failure=allow")
                .withBean(Exports.class)
                .run(context -> {
                    PermitEngine engine = context.getBean(PermitEngine.class);
                    backend.with(Line.CUT);
                    Exports exports = context.getBean(Exports.class);
                    CompletableFuture<Void> caller = CompletableFuture.runAsync(() -> kind.call.accept(exports));
                    await().until(() -> withoutStore(engine, "tenant") == 2 && withoutStore(engine, "total") == 2);
                    backend.with(Line.GOOD);
                    await().until(() -> withoutStore(engine, "tenant") == 0 && withoutStore(engine, "total") == 0);
                    assertHeld(context.getBean(Permits.class));
                    exports.open();
                    assertFree(context.getBean(Permits.class));
                    caller.join();
                });
    }

    private static int withoutStore(PermitEngine engine, String name) {
        return engine.gauges(name).map(PermitGauges::withoutStore).orElse(0);
    }

    private ApplicationContextRunner withTotal() {
        return runner.withPropertyValues(
                "distributed-permit.permits.tenant.within=total", "distributed-permit.permits.total.limit=20");
    }

    private static void assertHeld(Permits permits) {
        assertHeld(permits, 5);
    }

    private static void assertHeld(Permits permits, int limit) {
        await().untilAsserted(() -> {
            assertThat(permits.state("total").inUse()).isEqualTo(2);
            PermitState ofTenant = permits.named("tenant").state("tenant-t");
            assertThat(ofTenant.inUse()).isEqualTo(2);
            assertThat(ofTenant.limit()).isEqualTo(limit);
        });
    }

    private static void assertFree(Permits permits) {
        await().untilAsserted(() -> {
            assertThat(permits.state("total").inUse()).isZero();
            assertThat(permits.named("tenant").state("tenant-t").inUse()).isZero();
        });
    }

    /** A call that joins the permit of its caller takes none, so that its own group, head start and limit have no effect. */
    @Test
    void ofACallThatJoinsHaveNoEffect() {
        runner.withBean(Joining.class).run(context -> {
            Joining joining = context.getBean(Joining.class);
            Runnable inner = () -> joining.inner("b");
            joining.outer("a", inner);
            assertThat(joining.outerMono("a", Mono.defer(() -> joining.innerMono("b")))
                            .block(Duration.ofSeconds(30)))
                    .isEqualTo("b");
        });
    }

    @DistributedPermit(
            key = "tenant-#{#tenant}",
            name = "tenant",
            limitString = "#{2 + 3}",
            permits = 2,
            timeout = "7s",
            onStoreFailure = OnStoreFailure.ALLOW,
            headStart = "#{30}s",
            fairBy = "#{#tenant}",
            fairWeight = "#{3}")
    @Retention(RetentionPolicy.RUNTIME)
    @interface OfTenant {}

    @DistributedPermit(
            key = "tenant-#{#tenant}",
            name = "tenant",
            limitString = "#{2 + 3}",
            permits = 2,
            timeout = "7s",
            reentrant = true,
            onStoreFailure = OnStoreFailure.ALLOW,
            headStart = "#{30}s",
            fairBy = "#{#tenant}",
            fairWeight = "#{3}")
    @Retention(RetentionPolicy.RUNTIME)
    @interface JoiningOfTenant {}

    static class Exports {

        private final CountDownLatch go = new CountDownLatch(1);

        Exports(Permits permits) {
            if (permits instanceof RecordingPermits) {
                go.countDown();
            }
        }

        public void open() {
            go.countDown();
        }

        @JoiningOfTenant
        public void onThread(String tenant) {
            work(tenant);
        }

        @OfTenant
        public CompletableFuture<String> future(String tenant) {
            return CompletableFuture.supplyAsync(() -> work(tenant));
        }

        @JoiningOfTenant
        public Mono<String> mono(String tenant) {
            return Mono.fromFuture(() -> CompletableFuture.supplyAsync(() -> work(tenant)));
        }

        @JoiningOfTenant
        public Flux<String> flux(String tenant) {
            return mono(tenant).flux();
        }

        @Async
        @JoiningOfTenant
        public void async(String tenant) {
            work(tenant);
        }

        @Async
        @OfTenant
        public CompletableFuture<String> asyncFuture(String tenant) {
            return future(tenant);
        }

        private String work(String tenant) {
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return tenant;
        }
    }

    static class Job {

        private final CountDownLatch go = new CountDownLatch(1);

        Job(Permits permits) {
            if (permits instanceof RecordingPermits) {
                go.countDown();
            }
        }

        public void open() {
            go.countDown();
        }

        @Scheduled(fixedDelay = 86_400_000)
        @DistributedPermit(
                key = "tenant-t",
                name = "tenant",
                limitString = "#{2 + 3}",
                permits = 2,
                timeout = "7s",
                reentrant = true,
                onStoreFailure = OnStoreFailure.ALLOW,
                headStart = "#{30}s",
                fairBy = "#{'t'}",
                fairWeight = "#{3}")
        public void run() throws InterruptedException {
            go.await();
        }
    }

    static class Joining {

        @DistributedPermit(key = "joined", limitString = "#{2}", fairBy = "#{#group}")
        public void outer(String group, Runnable inner) {
            inner.run();
        }

        @DistributedPermit(
                key = "joined",
                limitString = "#{1}",
                fairBy = "#{#group}",
                headStart = "1h",
                reentrant = true)
        public void inner(String group) {}

        @DistributedPermit(key = "joined", limitString = "#{2}", fairBy = "#{#group}")
        public Mono<String> outerMono(String group, Mono<String> inner) {
            return inner;
        }

        @DistributedPermit(
                key = "joined",
                limitString = "#{1}",
                fairBy = "#{#group}",
                headStart = "1h",
                reentrant = true)
        public Mono<String> innerMono(String group) {
            return Mono.just(group);
        }
    }

    @Configuration
    @EnableAsync
    @EnableScheduling
    static class Tasks {}
}
