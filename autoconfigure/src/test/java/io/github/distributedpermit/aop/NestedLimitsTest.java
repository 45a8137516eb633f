package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.isFree;
import static io.github.distributedpermit.aop.Contexts.local;
import static io.github.distributedpermit.aop.Contexts.refusal;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnLoss;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.PermitSettingsRefresh;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContext;
import reactor.core.publisher.Mono;

/** Permits that lie within others. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class NestedLimitsTest {

    private static final Duration SOON = Duration.ofSeconds(20);

    private final Recorder recorder = new Recorder();
    private final ApplicationContextRunner runner = local().withBean(Recorder.class, () -> recorder)
            .withBean(Exports.class)
            .withPropertyValues(
                    "distributed-permit.permits.total.limit=20", "distributed-permit.permits.tenant.within=total");

    @Test
    void callsThatWaitForTheirTenantHoldNothingOfTheTotal() {
        List<Function<Exports, CompletableFuture<?>>> kinds = List.of(
                exports -> onThread(() -> exports.export("a")),
                exports -> exports.exportFuture("a"),
                exports -> exports.exportMono("a").toFuture(),
                exports -> onThread(() -> exports.inCode("a")),
                exports -> exports.inCodeAsync("a"));
        for (Function<Exports, CompletableFuture<?>> kind : kinds) {
            runner.run(context -> {
                Exports exports = context.getBean(Exports.class);
                List<CompletableFuture<?>> calls = IntStream.range(0, 40)
                        .<CompletableFuture<?>>mapToObj(i -> kind.apply(exports))
                        .toList();
                await().until(() -> waiting(context, "tenant", "tenant-a") == 37);
                assertThat(used(context, "total", "total")).isEqualTo(3);
                exports.open("b");
                onThread(() -> exports.export("b")).get(20, TimeUnit.SECONDS);
                exports.exportFuture("b").get(20, TimeUnit.SECONDS);
                exports.exportMono("b").block(SOON);
                exports.open("a");
                CompletableFuture.allOf(calls.toArray(CompletableFuture<?>[]::new))
                        .get(60, TimeUnit.SECONDS);
                await().until(() -> used(context, "total", "total") == 0 && used(context, "tenant", "tenant-a") == 0);
            });
        }
    }

    @Test
    void narrowPermitsAreTakenBeforeTheOnesThatTheyLieWithin() {
        local().withBean(Recorder.class, () -> recorder)
                .withBean(ChainOfThree.class)
                .run(context -> {
                    ChainOfThree chain = context.getBean(ChainOfThree.class);
                    Permits permits = context.getBean(Permits.class);
                    chain.stated("5", "3");
                    chain.turnedAround("5", "3");
                    chain.mono("5", "3").block(SOON);
                    PermitRequest user =
                            PermitRequest.builder("user-5").name("user").build();
                    PermitRequest tenant =
                            PermitRequest.builder("tenant-3").name("a-tenant").build();
                    permits.acquireAll(List.of(tenant, user)).close();
                    permits.acquireAllAsync(List.of(user, tenant))
                            .get(20, TimeUnit.SECONDS)
                            .close();
                    List<String> order = List.of("+user-5", "+tenant-3", "+all");
                    await().until(() -> recorder.events.size() == 30);
                    for (int call = 0; call < 5; call++) {
                        assertThat(recorder.events.subList(call * 6, call * 6 + 3))
                                .isEqualTo(order);
                    }
                    assertThatIllegalArgumentException()
                            .isThrownBy(() -> permits.named("user").acquire("user-5"))
                            .withMessageContaining("'a-tenant', whose key is made for each call")
                            .withMessageContaining("user within a-tenant");
                });
    }

    @Test
    void codeGetsOnePermitThatHoldsAllLevels() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            Permit permit = permits.named("tenant").acquire("tenant-a");
            assertThat(permit.name()).isEqualTo("tenant");
            assertThat(permit.key()).isEqualTo("tenant-a");
            assertThat(permit.isHeld()).isTrue();
            assertThat(used(context, "total", "total")).isEqualTo(1);
            List<String> lost = new CopyOnWriteArrayList<>();
            permit.onLoss(() -> lost.add("lost"));
            PermitEngine engine = context.getBean(PermitEngine.class);
            engine.evict("total", engine.member().id()).toCompletableFuture().get(20, TimeUnit.SECONDS);
            await().until(() -> lost.equals(List.of("lost")) && !permit.isHeld());
            assertThat(permit.release()).isFalse();
            assertThat(used(context, "tenant", "tenant-a")).isZero();
            Permit next = permits.named("tenant").acquireUninterruptibly(PermitRequest.of("tenant-a"));
            assertThat(used(context, "total", "total")).isEqualTo(1);
            assertThat(next.release()).isTrue();
            assertThat(next.release()).isFalse();
            assertThat(used(context, "total", "total")).isZero();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> permits.named("tenant")
                            .acquire(PermitRequest.builder("x").name("other").build()));
        });
    }

    @Test
    void aCallTakesAsManyPermitsOfTheOuterOneAndCountsOnceThere() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            try (Permit two = permits.named("tenant")
                    .acquire(PermitRequest.builder("tenant-a").permits(2).build())) {
                assertThat(two.permits()).isEqualTo(2);
                assertThat(used(context, "total", "total")).isEqualTo(2);
            }
            try (PermitGroup both = permits.acquireAll(List.of(
                    PermitRequest.builder("tenant-a").name("tenant").build(),
                    PermitRequest.builder("tenant-b").name("tenant").permits(2).build()))) {
                assertThat(both.permits()).extracting(Permit::key).containsExactly("tenant-a", "tenant-b", "total");
                assertThat(used(context, "total", "total")).isEqualTo(2);
            }
            try (PermitGroup stated = permits.acquireAll(List.of(
                    PermitRequest.builder("total").permits(5).build(),
                    PermitRequest.builder("tenant-a").name("tenant").build()))) {
                assertThat(stated.isHeld()).isTrue();
                assertThat(used(context, "total", "total")).isEqualTo(5);
            }
        });
    }

    @Test
    void aCallThatTheOuterPermitRejectsGivesTheInnerOneBack() {
        runner.withPropertyValues("distributed-permit.permits.total.limit=1").run(context -> {
            Permits permits = context.getBean(Permits.class);
            Exports exports = context.getBean(Exports.class);
            Permit taken = permits.acquire("total");
            PermitRequest now =
                    PermitRequest.builder("tenant-a").withoutWaiting().build();
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> permits.named("tenant").acquire(now))
                    .satisfies(rejected -> assertThat(rejected.name()).isEqualTo("total"));
            assertThat(permits.named("tenant").tryAcquire(now)).isEmpty();
            assertThat(permits.named("tenant").tryAcquire(now.withTimeout(Duration.ofMillis(20))))
                    .isEmpty();
            assertThat(exports.impatient("a")).isEqualTo("instead");
            assertThat(exports.impatientMono("a").block(SOON)).isEqualTo("instead");
            CompletableFuture<Permit> waiting = permits.named("tenant").acquireAsync(PermitRequest.of("tenant-a"));
            await().until(() -> used(context, "tenant", "tenant-a") == 1);
            waiting.cancel(false);
            await().until(() -> used(context, "tenant", "tenant-a") == 0);
            taken.release();
            assertThat(exports.impatient("a")).isEqualTo("done");
            assertThat(isFree(context, "total")).isTrue();
        });
    }

    @Test
    void nestedCallsJoinEachLevel() {
        runner.withPropertyValues(
                        "distributed-permit.permits.total.limit=1", "distributed-permit.permits.tenant.limit=1")
                .run(context -> {
                    Exports exports = context.getBean(Exports.class);
                    Permits permits = context.getBean(Permits.class);
                    PermitRequest ofA = PermitRequest.of("tenant-a");
                    permits.named("tenant").run(ofA, () -> {
                        assertThat(Permits.current().orElseThrow().name()).isEqualTo("tenant");
                        assertThat(Permits.current("total")).isPresent();
                        assertThat(exports.inner("a")).isEqualTo("tenant");
                        // of another tenant, in the same total
                        assertThat(exports.inner("b")).isEqualTo("tenant");
                        permits.named("tenant").run(ofA.toBuilder().reentrant().build(), () -> {});
                        assertThat(used(context, "total", "total")).isEqualTo(1);
                    });
                    assertThat(used(context, "total", "total")).isZero();
                    assertThat(used(context, "tenant", "tenant-a")).isZero();
                    assertThat(exports.outer("a", () -> exports.inner("a"))).isEqualTo("tenant");
                    assertThat(exports.outerMono("a", Mono.defer(() -> exports.innerMono("a")))
                                    .block(SOON))
                            .isEqualTo("done");
                    await().until(() -> used(context, "total", "total") == 0);
                });
    }

    @Test
    void anOuterPermitThatIsPausedHoldsUpItsInnerOnesOnly() {
        runner.run(context -> {
            PermitEngine engine = context.getBean(PermitEngine.class);
            engine.override("total", OverrideLimit.of(0)).toCompletableFuture().get(20, TimeUnit.SECONDS);
            CompletableFuture<?> call =
                    onThread(() -> context.getBean(Exports.class).inner("a"));
            await().until(() -> waiting(context, "total", "total") == 1);
            assertThat(used(context, "tenant", "tenant-a")).isEqualTo(1);
            engine.override("total", OverrideLimit.empty())
                    .toCompletableFuture()
                    .get(20, TimeUnit.SECONDS);
            call.get(20, TimeUnit.SECONDS);
        });
    }

    @Test
    void aLongWaitForTheOuterPermitIsLoggedWithBothNames(CapturedOutput output) {
        runner.withPropertyValues("distributed-permit.log.long-wait=300ms", "distributed-permit.permits.total.limit=1")
                .run(context -> {
                    Permits permits = context.getBean(Permits.class);
                    try (Permit taken = permits.acquire("total")) {
                        CompletableFuture<Permit> waiting =
                                permits.named("tenant").acquireAsync(PermitRequest.of("tenant-a"));
                        await().until(() -> output.getOut().contains("A call has been waiting for permit 'total'"));
                        assertThat(output).contains("It holds a permit of 'tenant', which lies within this one.");
                        waiting.cancel(false);
                        assertThat(taken.isHeld()).isTrue();
                    }
                });
    }

    @Test
    void whatLiesWithinWhatDoesNotChangeWhileTheApplicationRuns(CapturedOutput output) {
        runner.run(context -> {
            TestPropertyValues.of(
                            "distributed-permit.permits.tenant.within=other",
                            "distributed-permit.permits.other.limit=1")
                    .applyTo(context);
            assertThat(context.getBean(PermitSettingsRefresh.class).refresh()).isFalse();
            assertThat(output)
                    .contains("distributed-permit.permits.tenant.within cannot change while the application runs");
            assertThat(context.getBean(PermitCatalog.class)
                            .find("tenant")
                            .orElseThrow()
                            .within())
                    .isEqualTo("total");
        });
    }

    @Test
    void namesOfAPatternLieWithinTheSameTotal() {
        local().withPropertyValues(
                        "distributed-permit.permits[tenant-*].limit=3",
                        "distributed-permit.permits[tenant-*].within=total",
                        "distributed-permit.permits.total.limit=4")
                .run(context -> {
                    List<Permit> held = new ArrayList<>();
                    Permits permits = context.getBean(Permits.class);
                    for (String name : List.of("tenant-1", "tenant-1", "tenant-1", "tenant-2")) {
                        held.add(permits.acquire(name));
                    }
                    assertThat(permits.tryAcquire("tenant-3")).isEmpty();
                    held.forEach(Permit::release);
                    assertThat(isFree(context, "tenant-3")).isTrue();
                });
    }

    @Test
    void chainsThatCannotWorkStopTheStart() {
        assertThat(refusal(Exports.class, "distributed-permit.permits.tenant.within=totl"))
                .hasMessageContaining("Permit 'tenant' lies within 'totl', but no permit has that name")
                .hasMessageContaining("tenant within totl");
        assertThat(refusal(
                        Exports.class,
                        "distributed-permit.permits.tenant.within=total",
                        "distributed-permit.permits.total.limit=9",
                        "distributed-permit.permits.total.within=tenant"))
                .hasMessageContaining("in a circle")
                .hasMessageContaining("within total within tenant");
        List<String> nine = new ArrayList<>(List.of("distributed-permit.permits.tenant.within=n1"));
        for (int i = 1; i <= 8; i++) {
            nine.add("distributed-permit.permits.n%d.limit=9".formatted(i));
            nine.add("distributed-permit.permits.n%d.within=n%d".formatted(i, i + 1));
        }
        assertThat(refusal(Exports.class, nine.toArray(String[]::new)))
                .hasMessageContaining("More than 8 permits lie within each other")
                .hasMessageContaining(
                        "tenant within n1 within n2 within n3 within n4 within n5 within n6 within n7 within n8");
        assertThat(refusal(TwoOuterPermits.class))
                .hasMessageContaining("lies within")
                .hasMessageContaining("'one'")
                .hasMessageContaining("'two'");
        assertThat(refusal(OuterWithManyKeys.class))
                .hasMessageContaining("'inner' lies within 'tenant', which has many keys");
        assertThat(refusal(MoreThanTheOuterLimit.class))
                .hasMessageContaining("takes 3 permits of 'inner' and as many of 'outer', whose limit is 2");
        assertThat(refusal(OneKeyWithTwoNames.class))
                .hasMessageContaining("key 'shared' lies within")
                .hasMessageContaining("no other permit");
        assertThat(refusal(MadeForEachCall.class)).hasMessageContaining("is made for each call");
    }

    @Test
    void aDeclarationThatComesLaterMayHaveTheOuterPermit() {
        local().run(context -> {
            PermitCatalog catalog = context.getBean(PermitCatalog.class);
            Permits permits = context.getBean(Permits.class);
            catalog.define(PermitDefinition.named("inner", "code").limit(2).build());
            catalog.define(PermitDefinition.named("outer", "code")
                    .key("outer")
                    .limit(2)
                    .build());
            Permit alone = permits.acquire("inner");
            catalog.define(PermitDefinition.named("inner", "code")
                    .limit(2)
                    .within("outer")
                    .build());
            Permit nested = permits.acquire("inner");
            assertThat(used(context, "outer", "outer")).isEqualTo(1);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> catalog.define(PermitDefinition.named("inner", "code")
                            .limit(2)
                            .within("another")
                            .build()))
                    .withMessageContaining("lies within 'another'")
                    .withMessageContaining("'outer'");
            alone.release();
            nested.release();
        });
    }

    private static CompletableFuture<?> onThread(Runnable call) {
        return CompletableFuture.runAsync(call, task -> new Thread(task).start());
    }

    private static int used(ApplicationContext context, String name, String key) {
        return context.getBean(Permits.class).named(name).state(key).inUse();
    }

    private static int waiting(ApplicationContext context, String name, String key) {
        return context.getBean(PermitEngine.class).calls(key, 1_000).stream()
                .filter(call -> call.is(CallView.State.WAITING))
                .toList()
                .size();
    }

    static class Recorder implements PermitObserver {

        final List<String> events = new CopyOnWriteArrayList<>();

        @Override
        public void acquired(PermitCall call, Via via, Duration waited) {
            events.add("+" + call.key());
        }

        @Override
        public void released(PermitCall call, Duration held) {
            events.add("-" + call.key());
        }
    }

    static class Exports {

        private final Permits permits;
        private final CountDownLatch a = new CountDownLatch(1);
        private final CountDownLatch b = new CountDownLatch(1);
        private final CompletableFuture<String> openA = new CompletableFuture<>();
        private final CompletableFuture<String> openB = new CompletableFuture<>();

        Exports(Permits permits) {
            this.permits = permits;
        }

        void open(String tenant) {
            (tenant.equals("a") ? a : b).countDown();
            (tenant.equals("a") ? openA : openB).complete("done");
        }

        private void pass(String tenant) {
            try {
                assertThat((tenant.equals("a") ? a : b).await(60, TimeUnit.SECONDS))
                        .isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 3)
        public void export(String tenant) {
            pass(tenant);
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 3)
        public CompletableFuture<String> exportFuture(String tenant) {
            return (tenant.equals("a") ? openA : openB).copy();
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 3)
        public Mono<String> exportMono(String tenant) {
            return Mono.fromFuture(() -> (tenant.equals("a") ? openA : openB).copy());
        }

        public void inCode(String tenant) {
            permits.named("tenant").run(PermitRequest.of("tenant-" + tenant), () -> pass(tenant));
        }

        public CompletableFuture<?> inCodeAsync(String tenant) {
            return permits.named("tenant")
                    .acquireAsync(PermitRequest.of("tenant-" + tenant))
                    .thenCompose(permit -> (tenant.equals("a") ? openA : openB)
                            .copy()
                            .whenComplete((done, failure) -> permit.release()));
        }

        @DistributedPermit(
                key = "tenant-#{#tenant}",
                name = "tenant",
                limit = 3,
                timeout = "50ms",
                fallback = "instead",
                onLoss = OnLoss.INTERRUPT)
        public String impatient(String tenant) {
            return "done";
        }

        @DistributedPermit(
                key = "tenant-#{#tenant}",
                name = "tenant",
                limit = 3,
                block = false,
                fallback = "insteadMono")
        public Mono<String> impatientMono(String tenant) {
            return Mono.just("done");
        }

        String instead(String tenant) {
            return "instead";
        }

        Mono<String> insteadMono(String tenant) {
            return Mono.just("instead");
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 3)
        public String outer(String tenant, java.util.function.Supplier<String> work) {
            return work.get();
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 3)
        public Mono<String> outerMono(String tenant, Mono<String> work) {
            return work;
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 3, reentrant = true)
        public String inner(String tenant) {
            return Permits.current().orElseThrow().name();
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 3, reentrant = true)
        public Mono<String> innerMono(String tenant) {
            return Mono.just("done");
        }
    }

    static class ChainOfThree {

        @DistributedPermit(key = "all", limit = 9)
        @DistributedPermit(key = "user-#{#user}", name = "user", limit = 1, within = "a-tenant")
        @DistributedPermit(key = "tenant-#{#tenant}", name = "a-tenant", limit = 3, within = "all")
        public void stated(String user, String tenant) {}

        @DistributedPermit(key = "tenant-#{#tenant}", name = "a-tenant", limit = 3)
        @DistributedPermit(key = "user-#{#user}", name = "user", limit = 1)
        public void turnedAround(String user, String tenant) {}

        @DistributedPermit(key = "tenant-#{#tenant}", name = "a-tenant", limit = 3)
        @DistributedPermit(key = "user-#{#user}", name = "user", limit = 1)
        public Mono<String> mono(String user, String tenant) {
            return Mono.just("done");
        }
    }

    static class TwoOuterPermits {

        @DistributedPermit(key = "k-#{#k}", name = "k", limit = 1, within = "one")
        public void first(String k) {}

        @DistributedPermit(key = "k-#{#k}", name = "k", limit = 1, within = "two")
        public void second(String k) {}
    }

    static class OuterWithManyKeys {

        @DistributedPermit(key = "inner-#{#k}", name = "inner", limit = 1, within = "tenant")
        public void first(String k) {}

        @DistributedPermit(key = "tenant-#{#k}", name = "tenant", limit = 1)
        public void second(String k) {}
    }

    static class MoreThanTheOuterLimit {

        @DistributedPermit(key = "inner-#{#k}", name = "inner", limit = 5, permits = 3, within = "outer")
        public void first(String k) {}

        @DistributedPermit(key = "outer", limit = 2)
        public void second() {}
    }

    static class OneKeyWithTwoNames {

        @DistributedPermit(key = "shared", name = "one", limit = 5, within = "outer")
        public void first() {}

        @DistributedPermit(key = "shared", name = "two", limit = 5)
        public void second() {}

        @DistributedPermit(key = "outer", limit = 2)
        public void third() {}
    }

    static class MadeForEachCall {

        @DistributedPermit(key = "k", limit = 5, within = "tenant-#{#k}")
        public void first(String k) {}
    }
}
