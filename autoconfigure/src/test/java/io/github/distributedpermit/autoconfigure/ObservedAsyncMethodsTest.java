package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The waits and holds of asynchronous methods belong to the observation of their request, although Spring Boot's default
 * leaves that in the Reactor context and no thread has it.
 */
@Timeout(60)
class ObservedAsyncMethodsTest {

    private final List<Observation.Context> stopped = new CopyOnWriteArrayList<>();
    private final ObservationRegistry registry = ObservationRegistry.create();
    private final ApplicationContextRunner runner = local().withConfiguration(
                    AutoConfigurations.of(DistributedPermitObservationAutoConfiguration.class))
            .withBean(ObservationRegistry.class, () -> registry)
            .withBean(Service.class)
            .withPropertyValues("distributed-permit.permits.a.limit=1", "distributed-permit.permits.b.limit=1");

    ObservedAsyncMethodsTest() {
        registry.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {
            @Override
            public void onStop(Observation.Context context) {
                stopped.add(context);
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
    }

    enum Reactive {
        MONO(1, service -> service.one().flux()),
        FLUX(1, Service::flux),
        MONO_OF_TWO(2, service -> service.two().flux()),
        FLUX_OF_TWO(2, Service::fluxOfTwo);

        final int permits;
        final Function<Service, Flux<String>> call;

        Reactive(int permits, Function<Service, Flux<String>> call) {
            this.permits = permits;
            this.call = call;
        }
    }

    @ParameterizedTest
    @EnumSource
    void parentIsTheObservationInTheReactorContext(Reactive method) {
        runner.run(context -> {
            Observation request = Observation.start("request", registry);
            assertThat(subscribe(method, context.getBean(Service.class), request)
                            .get(20, TimeUnit.SECONDS))
                    .containsExactly("done");
            assertChildren(method.permits, request);
            assertThat(registry.getCurrentObservation()).isNull();
        });
    }

    @ParameterizedTest
    @EnumSource
    void parentIsTheObservationInTheReactorContextAlsoAfterAWait(Reactive method) {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            Observation request = Observation.start("request", registry);
            CompletableFuture<List<String>> answer;
            try (Permit held = permits.acquire("a")) {
                answer = subscribe(method, context.getBean(Service.class), request);
                await().until(() -> permits.state("a").waiting() == 1);
                assertThat(held.isHeld()).isTrue();
            }
            assertThat(answer.get(20, TimeUnit.SECONDS)).containsExactly("done");
            assertChildren(method.permits, request);
        });
    }

    @Test
    void secondPermitOfAFutureMethodHasTheCallersObservationAsParentToo() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            Observation request = Observation.start("request", registry);
            CompletableFuture<String> answer;
            try (Permit held = permits.acquire("a")) {
                try (Observation.Scope scope = request.openScope()) {
                    answer = context.getBean(Service.class).futureOfTwo();
                    assertThat(scope.getCurrentObservation()).isSameAs(request);
                }
                await().until(() -> permits.state("a").waiting() == 1);
                assertThat(held.isHeld()).isTrue();
            }
            assertThat(answer.get(20, TimeUnit.SECONDS)).isEqualTo("done");
            assertChildren(2, request);
        });
    }

    @Test
    void accessorThatThrowsLosesNoPermit() {
        ContextRegistry accessors = ContextRegistry.getInstance();
        accessors.registerThreadLocalAccessor(new Broken());
        try {
            runner.run(context -> {
                Service service = context.getBean(Service.class);
                for (Reactive method : Reactive.values()) {
                    method.call
                            .apply(service)
                            .contextWrite(values -> values.put(Broken.KEY, "value"))
                            .collectList()
                            .toFuture()
                            .handle((values, failure) -> true)
                            .get(20, TimeUnit.SECONDS);
                    await().until(() -> holders(context, "a") + holders(context, "b") == 0);
                }
            });
        } finally {
            accessors.removeThreadLocalAccessor(Broken.KEY);
        }
    }

    private static CompletableFuture<List<String>> subscribe(Reactive method, Service service, Observation request) {
        return method.call
                .apply(service)
                .contextWrite(values -> values.put(ObservationThreadLocalAccessor.KEY, request))
                .collectList()
                .toFuture();
    }

    /** Of each permit, one wait and one hold; those of a permit that the test held have no parent. */
    private void assertChildren(int permits, Observation request) {
        await().untilAsserted(() -> assertThat(stopped.stream()
                        .filter(each -> each.getParentObservation() == request)
                        .map(Observation.Context::getName)
                        .sorted())
                .containsExactlyElementsOf(Stream.of("distributed.permit.holding", "distributed.permit.waiting")
                        .flatMap(name -> Stream.generate(() -> name).limit(permits))
                        .toList()));
    }

    private static int holders(ApplicationContext context, String key) {
        return context.getBean(Permits.class).state(key).inUse();
    }

    private static final class Broken implements ThreadLocalAccessor<String> {

        static final String KEY = "broken";

        @Override
        public Object key() {
            return KEY;
        }

        @Override
        public String getValue() {
            return "value";
        }

        @Override
        public void setValue(String value) {
            throw new IllegalStateException("of an accessor");
        }

        @Override
        public void setValue() {
            throw new IllegalStateException("of an accessor");
        }
    }

    static class Service {

        @DistributedPermit(key = "a", limit = 1)
        public Flux<String> flux() {
            return Flux.just("done");
        }

        @DistributedPermit(key = "a", limit = 1)
        @DistributedPermit(key = "b", limit = 1)
        public Flux<String> fluxOfTwo() {
            return Flux.just("done");
        }

        @DistributedPermit(key = "a", limit = 1)
        public Mono<String> one() {
            return Mono.just("done");
        }

        @DistributedPermit(key = "a", limit = 1)
        @DistributedPermit(key = "b", limit = 1)
        public Mono<String> two() {
            return Mono.just("done");
        }

        @DistributedPermit(key = "a", limit = 1)
        @DistributedPermit(key = "b", limit = 1)
        public CompletableFuture<String> futureOfTwo() {
            return CompletableFuture.completedFuture("done");
        }
    }
}
