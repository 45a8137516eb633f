package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.metrics.MicrometerPermitObserver;
import io.github.distributedpermit.metrics.PermitTags;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class MetricsTest {

    private final ApplicationContextRunner runner =
            local().withBean(SimpleMeterRegistry.class).withBean(Service.class);

    @Test
    void gaugesFollowHoldersAndWaiters() {
        runner.run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            Permits permits = context.getBean(Permits.class);
            assertThat(gauge(registry, "limit")).isEqualTo(2);
            assertThat(gauge(registry, "holders")).isZero();
            try (Permit one = permits.acquire("export");
                    Permit two = permits.acquire("export")) {
                assertThat(one.isHeld() && two.isHeld()).isTrue();
                CompletableFuture<Permit> waiting = permits.acquireAsync("export");
                assertThat(gauge(registry, "holders")).isEqualTo(2);
                assertThat(gauge(registry, "waiters")).isEqualTo(1);
                waiting.cancel(false);
            }
            assertThat(gauge(registry, "holders")).isZero();
            await().until(() -> gauge(registry, "waiters") == 0);
        });
    }

    @Test
    void waitAndHoldAreTimed() {
        runner.run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            context.getBean(Service.class).export();
            assertThat(waits(registry, "granted")).isEqualTo(1);
            assertThat(registry.get("distributed.permit.hold")
                            .tag("name", "export")
                            .timer()
                            .count())
                    .isEqualTo(1);
        });
    }

    @Test
    void rejectionsAreCountedByReason() {
        runner.run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            Permits permits = context.getBean(Permits.class);
            try (Permit all =
                    permits.named("export").acquire(PermitRequest.of("export").withPermits(2))) {
                assertThat(all.isHeld()).isTrue();
                assertThat(permits.tryAcquire("export")).isEmpty();
                assertThatExceptionOfType(PermitRejectedException.class)
                        .isThrownBy(() -> permits.acquire("export", Duration.ofMillis(10)));
            }
            assertThat(rejections(registry, "limit_reached")).isEqualTo(1);
            assertThat(rejections(registry, "timed_out")).isEqualTo(1);
            assertThat(rejections(registry, "shutting_down")).isZero();
            assertThat(waits(registry, "rejected")).isEqualTo(2);
            assertThat(registry.get("distributed.permit.wait")
                            .tags("name", "export", "outcome", "rejected")
                            .timer()
                            .totalTime(TimeUnit.MILLISECONDS))
                    .isGreaterThanOrEqualTo(10);
        });
    }

    @Test
    void waitsThatAreCancelledOrInterruptedAreTimed() {
        runner.run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            Permits permits = context.getBean(Permits.class);
            try (Permit one = permits.acquire("export");
                    Permit two = permits.acquire("export")) {
                assertThat(one.isHeld() && two.isHeld()).isTrue();
                permits.acquireAsync("export").cancel(false);
                await().until(() -> waits(registry, "abandoned") == 1);
                Thread waiting = new Thread(() -> assertThatExceptionOfType(InterruptedException.class)
                        .isThrownBy(() -> permits.acquire("export")));
                waiting.start();
                await().until(() -> gauge(registry, "waiters") == 1);
                waiting.interrupt();
                await().until(() -> waits(registry, "abandoned") == 2);
            }
        });
    }

    @Test
    void longestWaitAndHoldGrowUntilTheyEnd() {
        runner.run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            Permits permits = context.getBean(Permits.class);
            assertThat(gauge(registry, "wait.longest")).isZero();
            try (Permit all =
                    permits.named("export").acquire(PermitRequest.of("export").withPermits(2))) {
                assertThat(all.isHeld()).isTrue();
                CompletableFuture<Permit> waiting = permits.acquireAsync("export");
                await().until(() -> gauge(registry, "wait.longest") > 0.1 && gauge(registry, "hold.longest") > 0.1);
                double waited = gauge(registry, "wait.longest"); // first: both grow, and the hold began before the wait
                assertThat(gauge(registry, "hold.longest"))
                        .isGreaterThan(waited)
                        .isLessThan(60);
                waiting.cancel(false);
            }
            await().until(() -> gauge(registry, "wait.longest") == 0 && gauge(registry, "hold.longest") == 0);
        });
    }

    @Test
    void claimsAndTheStateOfTheStoreAreShown() {
        CuttableBackend backend = new CuttableBackend();
        Starts.withBackend(backend)
                .withBean(SimpleMeterRegistry.class)
                .withInitializer(CommandTimeout.ofMillis(500))
                .withPropertyValues("distributed-permit.permits.export.limit=1")
                .run(context -> {
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    Permits permits = context.getBean(Permits.class);
                    assertThat(store(registry, "silence")).isNaN();
                    Permit held = permits.acquire("export");
                    assertThat(claims(registry, "answered")).isPositive();
                    assertThat(claims(registry, "failed")).isZero();
                    assertThat(store(registry, "up")).isEqualTo(1);
                    assertThat(store(registry, "silence")).isBetween(0.0, 60.0);
                    assertThat(registry.get("distributed.permit.keys").gauge().value())
                            .isEqualTo(1);
                    held.release(); // a key that is not in use may be dropped at any time
                    await().until(() -> store(registry, "backlog") == 0);

                    backend.line = CuttableBackend.Line.SILENT;
                    CompletableFuture<Permit> waiting = permits.acquireAsync("export");
                    await().until(() -> store(registry, "up") == 0);
                    assertThat(claims(registry, "failed")).isPositive();

                    backend.line = CuttableBackend.Line.GOOD;
                    waiting.get(30, TimeUnit.SECONDS).release();
                    assertThat(store(registry, "up")).isEqualTo(1);
                });
    }

    private static double store(MeterRegistry registry, String name) {
        return registry.get("distributed.permit.store." + name)
                .tag("backend", "cuttable")
                .gauge()
                .value();
    }

    private static long claims(MeterRegistry registry, String outcome) {
        return registry.get("distributed.permit.claim")
                .tag("outcome", outcome)
                .timer()
                .count();
    }

    private static long waits(MeterRegistry registry, String outcome) {
        return registry.get("distributed.permit.wait")
                .tags("name", "export", "outcome", outcome)
                .timer()
                .count();
    }

    @Test
    void failuresAndLossesAreCounted() {
        MeterRegistry registry = new SimpleMeterRegistry();
        MicrometerPermitObserver observer = new MicrometerPermitObserver(registry);
        PermitCall call = new StubCall("export", 5);
        observer.failed(call, new IllegalStateException(), Duration.ZERO);
        observer.lost(call);
        assertThat(counter(registry, "failures")).isEqualTo(1);
        assertThat(counter(registry, "losses")).isEqualTo(5);
        assertThat(waits(registry, "failed")).isEqualTo(1);
    }

    @Test
    void furtherTagsAreAskedForByName() {
        runner.withBean(PermitTags.class, () -> name -> {
                    if (name.equals("tenant")) {
                        throw new IllegalStateException("no tags for " + name);
                    }
                    return Tags.of("team", "reports");
                })
                .run(context -> {
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    context.getBean(Service.class).export();
                    assertThat(registry.get("distributed.permit.holders")
                                    .tags("name", "export", "team", "reports")
                                    .gauge()
                                    .value())
                            .isZero();
                    assertThat(registry.get("distributed.permit.hold")
                                    .tags("name", "export", "team", "reports")
                                    .timer()
                                    .count())
                            .isEqualTo(1);
                    assertThat(registry.get("distributed.permit.hold")
                                    .tag("name", "tenant")
                                    .timer()
                                    .count())
                            .isZero();
                });
    }

    @Test
    void lossesAndGrantsCountPermitsNotCalls() {
        CuttableBackend backend = new CuttableBackend();
        Starts.withBackend(backend)
                .withBean(SimpleMeterRegistry.class)
                .withPropertyValues("distributed-permit.lease=6s", "distributed-permit.permits.export.limit=5")
                .run(context -> {
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    NamedPermits permits = context.getBean(Permits.class).named("export");
                    PermitRequest all = PermitRequest.of("export").withPermits(5);
                    Permit first = permits.acquire(all);
                    CompletableFuture<Permit> second = permits.acquireAsync(all);
                    first.release();
                    Permit held = second.get(30, TimeUnit.SECONDS);
                    assertThat(grants(registry, "store")).isEqualTo(5);
                    assertThat(grants(registry, "hand_over")).isEqualTo(5);
                    backend.line = CuttableBackend.Line.SILENT;
                    await().until(() -> !held.isHeld());
                    await().until(() -> counter(registry, "losses") == 5);
                    assertThat(gauge(registry, "holders")).isZero();
                    await().until(() -> gauge(registry, "running.lost") == 1);
                    held.release();
                    await().until(() -> gauge(registry, "running.lost") == 0);
                });
    }

    private static double grants(MeterRegistry registry, String via) {
        return registry.get("distributed.permit.grants")
                .tags("name", "export", "via", via)
                .counter()
                .count();
    }

    private static double counter(MeterRegistry registry, String name) {
        return registry.get("distributed.permit." + name).tag("name", "export").counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    @Test
    void metersNeverCarryAKey() {
        runner.run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            Service service = context.getBean(Service.class);
            for (int i = 0; i < 100; i++) {
                service.tenant("secret-" + i);
            }
            List<Meter> meters = registry.getMeters().stream()
                    .filter(meter -> meter.getId().getName().startsWith("distributed.permit."))
                    .toList();
            assertThat(meters).hasSizeGreaterThan(40).allSatisfy(meter -> {
                assertThat(meter.getId().toString()).doesNotContain("secret");
                assertThat(meter.getId().getTags())
                        .extracting(Tag::getKey)
                        .isSubsetOf("name", "reason", "outcome", "via", "backend", "state", "cause");
                assertThat(meter.getId().getDescription()).isNotBlank();
            });
        });
    }

    @Test
    void withoutMicrometerPermitsWorkAllTheSame() {
        local().withClassLoader(new FilteredClassLoader(MeterRegistry.class))
                .withPropertyValues("distributed-permit.permits.export.limit=1")
                .run(context -> {
                    assertThat(context.getBean(Permits.class).tryAcquire("export"))
                            .hasValueSatisfying(Permit::release);
                    assertThat(context).doesNotHaveBean(PermitObserver.class);
                });
    }

    @Test
    void observersOfTheApplicationHearToo() {
        List<String> heard = new CopyOnWriteArrayList<>();
        PermitObserver recording = new PermitObserver() {
            @Override
            public void acquired(PermitCall call, Via via, Duration waited) {
                heard.add(call.name());
            }
        };
        PermitObserver failing = new PermitObserver() {
            @Override
            public void acquired(PermitCall call, Via via, Duration waited) {
                throw new LinkageError("observer is broken");
            }
        };
        runner.withBean("failing", PermitObserver.class, () -> failing)
                .withBean("recording", PermitObserver.class, () -> recording)
                .run(context -> {
                    context.getBean(Service.class).export();
                    assertThat(heard).containsExactly("export");
                    assertThat(context.getBean(MeterRegistry.class)
                                    .get("distributed.permit.wait")
                                    .tags("name", "export", "outcome", "granted")
                                    .timer()
                                    .totalTime(TimeUnit.SECONDS))
                            .isNotNegative();
                });
    }

    private static double gauge(MeterRegistry registry, String name) {
        return registry.get("distributed.permit." + name)
                .tag("name", "export")
                .gauge()
                .value();
    }

    private static double rejections(MeterRegistry registry, String reason) {
        return registry.get("distributed.permit.rejections")
                .tags("name", "export", "reason", reason)
                .counter()
                .count();
    }

    static class Service {
        @DistributedPermit(key = "export", limit = 2)
        public void export() {}

        @DistributedPermit(key = "tenant-#{#id}", name = "tenant", limit = 1)
        public void tenant(String id) {}
    }
}
