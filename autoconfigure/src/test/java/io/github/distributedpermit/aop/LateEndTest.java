package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.refusal;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ReflectionUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class LateEndTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "stage",
                "future",
                "completable",
                "mono",
                "flux",
                "publisher",
                "flow",
                "callable",
                "stream",
                "ints",
                "async"
            })
    void methodsThatMayWorkOnAfterTheyReturnAreTold(String method) {
        assertThat(LateEnd.of(find(Late.class, method), Late.class)).isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"nothing", "number", "object", "list", "optional"})
    void methodsThatAreDoneWhenTheyReturnAreNot(String method) {
        assertThat(LateEnd.of(find(Done.class, method), Done.class)).isEmpty();
    }

    @Test
    void onlyWideTypesLeaveOpenWhatIsReturned() {
        for (String method : List.of("nothing", "number", "list", "optional")) {
            assertThat(LateEnd.isLeftOpen(find(Done.class, method), Done.class))
                    .as(method)
                    .isFalse();
        }
        assertThat(LateEnd.isLeftOpen(find(Done.class, "object"), Done.class)).isTrue();
        assertThat(LateEnd.isLeftOpen(find(Generic.class, "call"), Generic.class))
                .isTrue();
    }

    @Test
    void typeParameterIsResolved() {
        assertThat(LateEnd.of(find(Concrete.class, "call"), Concrete.class)).isPresent();
    }

    @Test
    void asyncTypeIsTold() {
        assertThat(LateEnd.of(find(AsyncType.class, "call"), AsyncType.class))
                .hasValueSatisfying(reason -> assertThat(reason).contains("@Async"));
    }

    @Test
    void completionStageStopsTheStart() {
        assertThat(refusal(LimitedStage.class))
                .hasMessageContaining("LimitedStage.call()")
                .hasMessageContaining("CompletionStage")
                .hasMessageContaining("not support")
                .hasMessageContaining("yet")
                .hasMessageContaining("acquireAsync");
    }

    @Test
    void fluxStopsTheStart() {
        assertThat(refusal(LimitedFlux.class))
                .hasMessageContaining("call() in " + LimitedFlux.class.getName())
                .hasMessageContaining("Flux");
    }

    @Test
    void asyncMethodStopsTheStart() {
        assertThat(refusal(LimitedAsync.class))
                .hasMessageContaining("LimitedAsync.call()")
                .hasMessageContaining("@Async");
    }

    private static Method find(Class<?> type, String name) {
        return Objects.requireNonNull(ReflectionUtils.findMethod(type, name));
    }

    interface Late {
        CompletionStage<String> stage();

        Future<String> future();

        CompletableFuture<Void> completable();

        Mono<String> mono();

        Flux<String> flux();

        Publisher<String> publisher();

        Flow.Publisher<String> flow();

        Callable<String> callable();

        Stream<String> stream();

        IntStream ints();

        @Async
        void async();
    }

    interface Done {
        void nothing();

        int number();

        Object object();

        List<String> list();

        Optional<String> optional();
    }

    interface Generic<T> {
        T call();
    }

    static class Concrete implements Generic<CompletableFuture<String>> {
        @Override
        public CompletableFuture<String> call() {
            return new CompletableFuture<>();
        }
    }

    @Async
    static class AsyncType {
        public void call() {}
    }

    static class LimitedStage {
        @DistributedPermit(limit = 1)
        public CompletionStage<String> call() {
            return new CompletableFuture<>();
        }
    }

    @DistributedPermit(limit = 1)
    static class LimitedFlux {
        public Flux<String> call() {
            return Flux.empty();
        }
    }

    static class LimitedAsync {
        @Async
        @DistributedPermit(limit = 1)
        public void call() {}
    }
}
