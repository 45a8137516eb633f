package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.isFree;
import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Observable;
import io.reactivex.rxjava3.core.Single;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Reactive types of other libraries, by Spring's adapters. */
class AdaptedMethodsTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final ReactiveAdapterRegistry ADAPTERS = ReactiveAdapterRegistry.getSharedInstance();

    private final ApplicationContextRunner runner = local().withBean(Service.class);
    private final Sinks.One<String> end = Sinks.one();

    @ParameterizedTest
    @EnumSource(Kind.class)
    void completionReleasesThePermit(Kind kind) {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            kind.call(service, end::asMono).subscribe();
            await().until(() -> service.calls().get() == 1);
            assertThat(isFree(context, "one")).isFalse();
            end.tryEmitValue("value").orThrow();
            await().until(() -> isFree(context, "one"));
        });
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void errorReleasesThePermit(Kind kind) {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            assertThatThrownBy(() -> kind.call(service, () -> Mono.error(new IllegalStateException("work")))
                            .blockLast(SOON))
                    .hasMessageContaining("work");
            assertThatThrownBy(() -> kind.call(service, () -> {
                                throw new IllegalStateException("assembly");
                            })
                            .blockLast(SOON))
                    .hasMessageContaining("assembly");
            assertThat(isFree(context, "one")).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void cancelReleasesThePermitOrLeavesTheQueue(Kind kind) {
        runner.run(context -> {
            Service service = context.getBean(Service.class);
            Disposable held = kind.call(service, Mono::never).subscribe();
            await().until(() -> service.calls().get() == 1);
            Disposable waiting = kind.call(service, Mono::never).subscribe();
            waiting.dispose();
            held.dispose();
            await().until(() -> isFree(context, "one"));
            try (Permit taken = context.getBean(Permits.class).acquire("one")) {
                assertThat(taken.isHeld()).isTrue();
            }
            assertThat(service.calls()).hasValue(1);
        });
    }

    enum Kind {
        SINGLE(service -> service::single),
        MAYBE(service -> service::maybe),
        COMPLETABLE(service -> service::completable),
        FLOWABLE(service -> service::flowable),
        OBSERVABLE(service -> service::observable),
        UNI(service -> service::uni),
        MULTI(service -> service::multi),
        FLOW(service -> service::flow);

        private final Function<Service, Function<Supplier<Mono<String>>, Object>> method;

        Kind(Function<Service, Function<Supplier<Mono<String>>, Object>> method) {
            this.method = method;
        }

        Flux<Object> call(Service service, Supplier<Mono<String>> work) {
            Object value = method.apply(service).apply(work);
            return Flux.from(Objects.requireNonNull(ADAPTERS.getAdapter(value.getClass()))
                    .toPublisher(value));
        }
    }

    static class Service {

        private final AtomicInteger calls = new AtomicInteger();

        AtomicInteger calls() {
            return calls;
        }

        @DistributedPermit(key = "one", limit = 1)
        public Single<String> single(Supplier<Mono<String>> work) {
            return Single.fromPublisher(begun(work));
        }

        @DistributedPermit(key = "one", limit = 1)
        public Maybe<String> maybe(Supplier<Mono<String>> work) {
            return Maybe.fromPublisher(begun(work));
        }

        @DistributedPermit(key = "one", limit = 1)
        public Completable completable(Supplier<Mono<String>> work) {
            return Completable.fromPublisher(begun(work));
        }

        @DistributedPermit(key = "one", limit = 1)
        public Flowable<String> flowable(Supplier<Mono<String>> work) {
            return Flowable.fromPublisher(begun(work));
        }

        @DistributedPermit(key = "one", limit = 1)
        public Observable<String> observable(Supplier<Mono<String>> work) {
            return Observable.fromPublisher(begun(work));
        }

        @DistributedPermit(key = "one", limit = 1)
        public Uni<String> uni(Supplier<Mono<String>> work) {
            return Uni.createFrom().publisher(JdkFlowAdapter.publisherToFlowPublisher(begun(work)));
        }

        @DistributedPermit(key = "one", limit = 1)
        public Multi<String> multi(Supplier<Mono<String>> work) {
            return Multi.createFrom().publisher(JdkFlowAdapter.publisherToFlowPublisher(begun(work)));
        }

        @DistributedPermit(key = "one", limit = 1)
        public Flow.Publisher<String> flow(Supplier<Mono<String>> work) {
            return JdkFlowAdapter.publisherToFlowPublisher(begun(work));
        }

        private Mono<String> begun(Supplier<Mono<String>> work) {
            calls.incrementAndGet();
            return work.get();
        }
    }
}
