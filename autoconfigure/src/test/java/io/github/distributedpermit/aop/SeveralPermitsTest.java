package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.isFree;
import static io.github.distributedpermit.aop.Contexts.local;
import static io.github.distributedpermit.aop.Contexts.refusal;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Several permits for one call, and calls that join the permit of their caller. */
@Timeout(120)
class SeveralPermitsTest {

    private static final Duration SOON = Duration.ofSeconds(20);

    private static final List<PermitRequest> A_AND_B = List.of(PermitRequest.of("b"), PermitRequest.of("a"));

    private final ApplicationContextRunner runner = local().withBean(Service.class)
            .withPropertyValues(
                    "distributed-permit.permits.a.limit=1",
                    "distributed-permit.permits.b.limit=1",
                    "distributed-permit.permits.three.limit=3");

    @Test
    void permitsOfKeysMadeByExpressionsAreTakenFirstAndThenInTheOrderOfTheKeys() {
        local().withBean(RecordingPermits.class).withBean(Service.class).run(context -> {
            List<String> events = context.getBean(RecordingPermits.class).events;
            Service service = context.getBean(Service.class);
            service.ab();
            service.ba();
            assertThat(service.baMono().block(SOON)).isEqualTo("done");
            service.transfer("y", "x");
            context.getBean(Permits.class).acquireAll(A_AND_B).close();
            service.export("z");
            assertThat(service.exportMono("z").block(SOON)).isEqualTo("done");
            service.export("all");
            context.getBean(Permits.class)
                    .acquireAll(List.of(
                            PermitRequest.of("all"),
                            PermitRequest.builder("z").name("tenant").build()))
                    .close();
            assertThat(events)
                    .containsExactly(
                            "+a", "+b", "-b", "-a", //
                            "+a", "+b", "-b", "-a", //
                            "+a", "+b", "-b", "-a", //
                            "+x", "+y", "-y", "-x", //
                            "+a", "+b", "-b", "-a", //
                            "+z", "+all", "-all", "-z", //
                            "+z", "+all", "-all", "-z", //
                            "+all", "-all", //
                            "+z", "+all", "-all", "-z");
        });
    }

    @Test
    void callsThatNameTheSamePermitsInAnotherOrderDoNotWaitForEachOther() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            Permits permits = context.getBean(Permits.class);
            List<Runnable> calls =
                    List.of(service::ab, service::ba, () -> service.baMono().block(SOON), () -> takeBoth(permits));
            CompletableFuture.allOf(calls.stream()
                            .map(call ->
                                    CompletableFuture.runAsync(() -> repeat(call), task -> new Thread(task).start()))
                            .toArray(CompletableFuture<?>[]::new))
                    .get(60, TimeUnit.SECONDS);
            assertThat(isFree(context, "a")).isTrue();
            assertThat(isFree(context, "b")).isTrue();
        });
    }

    private static void repeat(Runnable call) {
        for (int i = 0; i < 200; i++) {
            call.run();
        }
    }

    private static void takeBoth(Permits permits) {
        try (PermitGroup both = permits.acquireAll(A_AND_B)) {
            assertThat(both.isHeld()).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void callThatDoesNotGetAllGivesBackWhatItHas() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            try (Permit taken = permits.acquire("b")) {
                PermitRequest a = PermitRequest.of("a");
                assertThatExceptionOfType(PermitRejectedException.class)
                        .isThrownBy(() -> permits.acquireAll(
                                List.of(a, PermitRequest.of("b").withoutWaiting())))
                        .satisfies(rejected -> assertThat(rejected.key()).isEqualTo("b"));
                assertThat(isFree(context, "a")).isTrue();
                assertThat(permits.tryAcquireAll(
                                List.of(a, PermitRequest.of("b").withTimeout(Duration.ofMillis(10)))))
                        .isEmpty();
                assertThat(isFree(context, "a")).isTrue();
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> permits.acquireAll(List.of(a, PermitRequest.of("unknown"))));
                assertThat(isFree(context, "a")).isTrue();
                Thread.currentThread().interrupt();
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> permits.acquireAll(A_AND_B));
                assertThat(isFree(context, "a")).isTrue();
                assertThat(taken.isHeld()).isTrue();
            }
            PermitGroup group = permits.tryAcquireAll(A_AND_B).orElseThrow();
            assertThat(group.permits()).extracting(Permit::key).containsExactly("a", "b");
            assertThat(isFree(context, "a")).isFalse();
            assertThat(group.release()).isTrue();
            assertThat(group.release()).isFalse();
            assertThat(group.isHeld()).isFalse();
            assertThat(isFree(context, "a")).isTrue();
        });
    }

    @Test
    void timeOutCountsFromTheBeginningOfTheWholeCall() {
        local().withBean(RecordingPermits.class).run(context -> {
            RecordingPermits permits = context.getBean(RecordingPermits.class);
            permits.acquireAll(List.of(
                            PermitRequest.of("a").withTimeout(SOON),
                            PermitRequest.of("b").withTimeout(SOON),
                            PermitRequest.of("c").withTimeout(Duration.ofNanos(1)),
                            PermitRequest.of("d").withoutWaiting()))
                    .close();
            assertThat(permits.requests.get(0).timeout()).isEqualTo(SOON);
            assertThat(permits.requests.get(1).timeout()).isPositive().isLessThan(SOON);
            assertThat(permits.requests.get(2).timeout()).isEqualTo(Duration.ofNanos(1));
            assertThat(permits.requests.get(3).block()).isFalse();
        });
    }

    @Test
    void requestsForTheSameKeyAreAddedUpUnlessTheyAreReentrant() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            PermitRequest one = PermitRequest.of("three");
            try (PermitGroup group = permits.acquireAll(List.of(one, one.withPermits(2)))) {
                assertThat(group.permits())
                        .singleElement()
                        .extracting(Permit::permits)
                        .isEqualTo(3);
            }
            PermitRequest joining = one.toBuilder().reentrant().build();
            try (PermitGroup group = permits.acquireAll(List.of(joining, one.withPermits(2)))) {
                assertThat(group.permits())
                        .singleElement()
                        .extracting(Permit::permits)
                        .isEqualTo(2);
            }
            Service service = context.getBean(Service.class);
            service.transfer("x", "y");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> service.transfer("x", "x"))
                    .withMessageContaining("2 permits together")
                    .withMessageContaining("reentrant = true");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> service.transferMono("x", "x").block(SOON))
                    .withMessageContaining("reentrant = true");
            service.joinedTransfer("x", "x");
            assertThat(service.calls()).isEqualTo(2);
        });
    }

    @Test
    void nestedCallJoinsThePermitOfItsThread() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            Service service = context.getBean(Service.class);
            service.outer(() -> {
                service.inner(() ->
                        assertThat(Permits.current().orElseThrow().isHeld()).isTrue());
                // the end of the inner call leaves the permit with the outer one
                assertThat(isFree(context, "a")).isFalse();
                assertThat(Permits.current().orElseThrow().isHeld()).isTrue();
            });
            assertThat(isFree(context, "a")).isTrue();
            permits.run("a", () -> service.inner(() -> {}));
            service.inner(() -> permits.named("a")
                    .run(PermitRequest.builder("a").reentrant().withoutWaiting().build(), () -> {}));
            assertThat(isFree(context, "a")).isTrue();
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> service.outer(() -> service.outer(() -> {})));
            // not that of another thread
            service.outer(() -> assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> CompletableFuture.supplyAsync(() -> innerOf(service))
                            .join()
                            .run()));
            assertThat(isFree(context, "a")).isTrue();
        });
    }

    /** Throws on the thread of the test what the other thread got. */
    private static Runnable innerOf(Service service) {
        try {
            service.inner(() -> {});
            return () -> {};
        } catch (PermitRejectedException e) {
            return () -> {
                throw e;
            };
        }
    }

    @Test
    void joinedPermitEndsWithTheOuterOne() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            PermitRequest joining = PermitRequest.builder("three").reentrant().build();
            Permit joined = permits.supply("three", () -> permits.named("three").acquireUninterruptibly(joining));
            assertThat(joined.isHeld()).isFalse();
            assertThat(joined.release()).isFalse();
            // more permits than the outer call has are no nested ones
            permits.run("three", () -> {
                try (Permit two = permits.named("three").acquireUninterruptibly(joining.withPermits(2))) {
                    assertThat(permits.state("three").inUse()).isEqualTo(3);
                    assertThat(two.permits()).isEqualTo(2);
                }
            });
        });
    }

    @Test
    void nestedSubscriptionJoinsThePermitOfItsSubscriber() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            Mono<String> nested = service.outerMono(service.innerMono(Mono.fromSupplier(() -> "inner")));
            assertThat(nested.block(SOON)).isEqualTo("inner");
            // the inner one may have another thread, and stand anywhere in the outer one
            assertThat(service.outerMono(Mono.just("x")
                                    .delayElement(Duration.ofMillis(1))
                                    .flatMap(x -> service.innerMono(Mono.just(x))))
                            .block(SOON))
                    .isEqualTo("x");
            // the end of the inner one leaves the permit with the outer one
            Mono<Boolean> after = service.innerMono(Mono.just("x")).map(x -> isFree(context, "a"));
            assertThat(service.outerMono(after.map(String::valueOf)).block(SOON))
                    .isEqualTo("false");
            assertThat(service.innerFlux(3, service).collectList().block(SOON)).hasSize(3);
            assertThat(isFree(context, "a")).isTrue();
            // a subscription of its own has no outer one
            Mono<String> apart = service.outerMono(
                    Mono.fromFuture(() -> service.innerMono(Mono.just("x")).toFuture()));
            assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(() -> apart.block(SOON));
            assertThat(isFree(context, "a")).isTrue();
        });
    }

    @Test
    void workThatMayOutliveItsCallerCannotJoin() {
        assertThat(refusal(JoiningFuture.class))
                .hasMessageContaining("JoiningFuture.call()")
                .hasMessageContaining("reentrant = true");
    }

    static class JoiningFuture {
        @DistributedPermit(limit = 1, reentrant = true)
        public CompletableFuture<String> call() {
            return CompletableFuture.completedFuture("");
        }
    }

    static class Service {

        private int calls;

        int calls() {
            return calls;
        }

        @DistributedPermit(key = "a", limit = 1)
        @DistributedPermit(key = "b", limit = 1)
        public void ab() {}

        @DistributedPermit(key = "b", limit = 1)
        @DistributedPermit(key = "a", limit = 1)
        public void ba() {}

        @DistributedPermit(key = "b", limit = 1)
        @DistributedPermit(key = "a", limit = 1)
        public Mono<String> baMono() {
            return Mono.just("done");
        }

        @DistributedPermit(key = "all", limit = 2)
        @DistributedPermit(key = "#{#tenant}", name = "tenant", limit = 1)
        public void export(String tenant) {}

        @DistributedPermit(key = "all", limit = 2)
        @DistributedPermit(key = "#{#tenant}", name = "tenant", limit = 1)
        public Mono<String> exportMono(String tenant) {
            return Mono.just("done");
        }

        @DistributedPermit(key = "#{#from}", name = "account", limit = 1)
        @DistributedPermit(key = "#{#to}", name = "account", limit = 1)
        public void transfer(String from, String to) {
            calls++;
        }

        @DistributedPermit(key = "#{#from}", name = "account", limit = 1)
        @DistributedPermit(key = "#{#to}", name = "account", limit = 1)
        public Mono<String> transferMono(String from, String to) {
            return Mono.just("never");
        }

        @DistributedPermit(key = "#{#from}", name = "account", limit = 1)
        @DistributedPermit(key = "#{#to}", name = "account", limit = 1, reentrant = true)
        public void joinedTransfer(String from, String to) {
            calls++;
        }

        @DistributedPermit(key = "a", limit = 1, block = false)
        public void outer(Runnable work) {
            work.run();
        }

        @DistributedPermit(key = "a", limit = 1, block = false, reentrant = true)
        public void inner(Runnable work) {
            work.run();
        }

        @DistributedPermit(key = "a", limit = 1, block = false)
        public Mono<String> outerMono(Mono<String> work) {
            return work;
        }

        @DistributedPermit(key = "a", limit = 1, block = false, reentrant = true)
        public Mono<String> innerMono(Mono<String> work) {
            return work;
        }

        @DistributedPermit(key = "a", limit = 1, block = false, reentrant = true)
        public Flux<String> innerFlux(int depth, Service proxied) {
            return Flux.range(0, depth).concatMap(i -> proxied.innerMono(Mono.just("inner " + i)));
        }
    }
}
