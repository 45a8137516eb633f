package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.isFree;
import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import io.micrometer.context.ContextRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/** Methods that return a Mono or a Flux hold a permit for each subscription until complete, error or cancel. */
class ReactiveMethodsTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

    private final ApplicationContextRunner runner = local().withBean(Service.class)
            .withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class));

    private final Sinks.One<String> one = Sinks.one();
    private final Sinks.Many<String> many = Sinks.many().unicast().onBackpressureBuffer();

    @Test
    void permitIsTakenAtSubscriptionOnceForEach() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            Mono<String> mono = service.mono(one::asMono);
            assertThat(service.calls()).hasValue(0);
            assertThat(isFree(context, "one")).isTrue();
            Disposable first = mono.subscribe();
            awaitHeld(service, 1);
            Disposable second = mono.subscribe();
            first.dispose();
            awaitHeld(service, 2);
            assertThat(isFree(context, "one")).isFalse();
            second.dispose();
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void completionReleasesThePermitBeforeTheValueArrives() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            List<Boolean> free = new CopyOnWriteArrayList<>();
            service.mono(one::asMono)
                    .doOnNext(value -> free.add(isFree(context, "one")))
                    .subscribe();
            awaitHeld(service, 1);
            assertThat(isFree(context, "one")).isFalse();
            one.tryEmitValue("value").orThrow();
            assertThat(free).containsExactly(true);
        });
    }

    @Test
    void emptyMonoReleasesThePermit() {
        runner.run(context -> {
            assertThat(context.getBean(Service.class).mono(Mono::empty).block(SOON))
                    .isNull();
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void fluxHoldsThePermitUntilItCompletes() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            List<String> seen = new CopyOnWriteArrayList<>();
            CompletableFuture<Boolean> freeAtTheEnd = new CompletableFuture<>();
            service.flux(many::asFlux)
                    .doOnComplete(() -> freeAtTheEnd.complete(isFree(context, "one")))
                    .subscribe(seen::add);
            awaitHeld(service, 1);
            many.tryEmitNext("a").orThrow();
            assertThat(seen).containsExactly("a");
            assertThat(isFree(context, "one")).isFalse();
            many.tryEmitComplete().orThrow();
            assertThat(freeAtTheEnd.join()).isTrue();
        });
    }

    @Test
    void demandOfTheSubscriberReachesTheWork() {
        runner.run(context -> {
            AtomicInteger requested = new AtomicInteger();
            Flux<Integer> numbers = Flux.range(0, 100).doOnRequest(n -> requested.addAndGet((int) n));
            assertThat(context.getBean(Service.class)
                            .numbers(() -> numbers)
                            .limitRate(5)
                            .take(10)
                            .collectList()
                            .block(SOON))
                    .hasSize(10);
            assertThat(requested.get()).isLessThan(100);
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void errorOfTheWorkReleasesThePermit() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> service.mono(() -> Mono.error(new IllegalStateException("work")))
                            .block(SOON))
                    .withMessage("work");
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> service.flux(
                                    () -> Flux.concat(Flux.just("a"), Flux.error(new IllegalStateException("work"))))
                            .blockLast(SOON))
                    .withMessage("work");
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void errorOfTheMethodItselfReleasesThePermit() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> service.mono(() -> {
                                throw new IllegalStateException("assembly");
                            })
                            .block(SOON))
                    .withMessage("assembly");
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> service.flux(() -> null).blockLast(SOON))
                    .withMessageContaining("returned null");
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void cancelWhileHeldCancelsTheWorkAndReleasesThePermit() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            AtomicInteger cancelled = new AtomicInteger();
            AtomicInteger subscribed = new AtomicInteger();
            Disposable mono = service.mono(() -> Mono.<String>never()
                            .doOnCancel(cancelled::incrementAndGet)
                            .doOnSubscribe(begun -> subscribed.incrementAndGet()))
                    .subscribe();
            await().until(() -> subscribed.get() == 1);
            mono.dispose();
            await().until(() -> isFree(context, "one"));
            Disposable flux = service.flux(() -> Flux.<String>never()
                            .doOnCancel(cancelled::incrementAndGet)
                            .doOnSubscribe(begun -> subscribed.incrementAndGet()))
                    .subscribe();
            await().until(() -> subscribed.get() == 2);
            flux.dispose();
            await().until(() -> isFree(context, "one"));
            assertThat(cancelled).hasValue(2);
        });
    }

    @Test
    void cancellationThatThrowsReleasesThePermit() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            Mono<String> work = Mono.create(sink -> sink.onCancel(() -> {
                throw new IllegalStateException("cancel");
            }));
            Disposable subscription = service.mono(() -> work).subscribe();
            awaitHeld(service, 1);
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(subscription::dispose);
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void methodSeesItsOwnPermitWhileItRuns() {
        runner.run(context -> assertThat(context.getBean(Service.class)
                        .mono(() -> Mono.just(Permits.current().map(Permit::key).orElse("none")))
                        .block(SOON))
                .isEqualTo("one"));
    }

    @Test
    void cancelWhileWaitingLeavesTheQueue() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            Permit taken = context.getBean(Permits.class).acquire("one");
            Disposable left = service.mono(one::asMono).subscribe();
            Disposable leftToo = service.flux(many::asFlux).subscribe();
            CompletableFuture<@Nullable String> next =
                    service.mono(() -> Mono.just("next")).toFuture();
            left.dispose();
            leftToo.dispose();
            taken.release();
            assertThat(next.orTimeout(30, TimeUnit.SECONDS).join()).isEqualTo("next");
            assertThat(service.calls()).hasValue(1);
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @Test
    void cancelWhileTheMethodRunsReleasesThePermitAfterIt() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            AtomicReference<@Nullable Disposable> subscription = new AtomicReference<>();
            AtomicReference<@Nullable Boolean> free = new AtomicReference<>();
            AtomicInteger subscribed = new AtomicInteger();
            Permit taken = context.getBean(Permits.class).acquire("one");
            subscription.set(service.mono(() -> {
                        Disposable own = subscription.get();
                        if (own != null) {
                            own.dispose();
                        }
                        free.set(isFree(context, "one"));
                        return Mono.just("x").doOnSubscribe(s -> subscribed.incrementAndGet());
                    })
                    .subscribe());
            taken.release();
            await().until(() -> free.get() != null);
            assertThat(free.get()).isFalse();
            await().until(() -> isFree(context, "one"));
            assertThat(subscribed).hasValue(0);
        });
    }

    @Test
    void rejectionIsAnErrorSignalOrTheFallback() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            try (Permit taken = context.getBean(Permits.class).acquire("one")) {
                assertThatExceptionOfType(PermitRejectedException.class)
                        .isThrownBy(() -> service.impatient(one::asMono).block(SOON));
                assertThat(service.answered(many::asFlux).collectList().block(SOON))
                        .containsExactly("fallback");
                assertThat(taken.isHeld()).isTrue();
            }
            assertThat(service.calls()).hasValue(0);
        });
    }

    @Test
    void contextsSurviveTheWait() {
        ContextRegistry.getInstance().registerThreadLocalAccessor("tenant", TENANT::get, TENANT::set, TENANT::remove);
        try {
            runner.run(context -> {
                Service service = context.getBean(Service.class);
                Permit taken = context.getBean(Permits.class).acquire("one");
                TENANT.set("of-thread");
                CompletableFuture<@Nullable String> byThread =
                        service.mono(ReactiveMethodsTest::contexts).toFuture();
                TENANT.remove();
                CompletableFuture<@Nullable String> byReactor = service.mono(ReactiveMethodsTest::contexts)
                        .contextWrite(Context.of("tenant", "of-reactor", "user", "me"))
                        .toFuture();
                taken.release();
                assertThat(byThread.get(30, TimeUnit.SECONDS)).isEqualTo("of-thread/unknown");
                assertThat(byReactor.get(30, TimeUnit.SECONDS)).isEqualTo("of-reactor/me");
            });
        } finally {
            ContextRegistry.getInstance().removeThreadLocalAccessor("tenant");
        }
    }

    private static Mono<String> contexts() {
        String tenant = TENANT.get();
        return Mono.deferContextual(context -> Mono.just(tenant + "/" + context.getOrDefault("user", "unknown")));
    }

    @Test
    void thousandWaitingSubscribersNeedNoThread() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            Permit taken = context.getBean(Permits.class).acquire("one");
            service.mono(() -> Mono.just("warm-up"))
                    .timeout(Duration.ofMillis(1))
                    .onErrorComplete()
                    .block(SOON);
            Set<Thread> before = Set.copyOf(threadsInTheLibrary());
            List<CompletableFuture<@Nullable String>> results = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                results.add(service.mono(() -> Mono.just("done")).toFuture());
            }
            assertThat(threadsInTheLibrary())
                    .filteredOn(thread -> !before.contains(thread))
                    .hasSizeLessThanOrEqualTo(2);
            taken.release();
            CompletableFuture.allOf(results.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
            assertThat(service.calls()).hasValue(1000);
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    /** A thread that waits for a permit has a frame of the library; threads of others come and go in this JVM. */
    private static List<Thread> threadsInTheLibrary() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> Stream.of(thread.getValue())
                        .anyMatch(frame -> frame.getClassName().startsWith("io.github.distributedpermit.")))
                .map(Map.Entry::getKey)
                .toList();
    }

    @Test
    void blockingMethodIsRefusedOnAThreadThatMustNotBlock() {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> Mono.fromCallable(service::blocking)
                            .subscribeOn(Schedulers.parallel())
                            .block(SOON))
                    .withMessageContaining("Service.blocking()")
                    .withMessageContaining("must not block")
                    .withMessageContaining("parallel-");
            assertThat(Mono.fromCallable(service::blocking)
                            .subscribeOn(Schedulers.boundedElastic())
                            .block(SOON))
                    .isEqualTo("blocked");
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    private static void awaitHeld(Service service, int calls) {
        await().until(() -> service.calls().get() == calls);
    }

    static class Service {

        private final AtomicInteger calls = new AtomicInteger();

        // the fields of the proxy itself are not those of the bean
        AtomicInteger calls() {
            return calls;
        }

        @DistributedPermit(key = "one", limit = 1)
        public Mono<String> mono(Supplier<Mono<String>> work) {
            calls.incrementAndGet();
            return work.get();
        }

        @DistributedPermit(key = "one", limit = 1)
        public Flux<String> flux(Supplier<@Nullable Flux<String>> work) {
            calls.incrementAndGet();
            return work.get();
        }

        @DistributedPermit(key = "one", limit = 1)
        public Flux<Integer> numbers(Supplier<Flux<Integer>> work) {
            return work.get();
        }

        @DistributedPermit(key = "one", limit = 1, timeout = "20ms")
        public Mono<String> impatient(Supplier<Mono<String>> work) {
            calls.incrementAndGet();
            return work.get();
        }

        @DistributedPermit(key = "one", limit = 1, block = false, fallback = "instead")
        public Flux<String> answered(Supplier<Flux<String>> work) {
            calls.incrementAndGet();
            return work.get();
        }

        Flux<String> instead(Supplier<Flux<String>> work) {
            return Flux.just("fallback");
        }

        @DistributedPermit(key = "one", limit = 1)
        public String blocking() {
            return "blocked";
        }
    }
}
