package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static io.github.distributedpermit.aop.Contexts.refusal;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.aop.async.AsyncMethodHold;
import io.github.distributedpermit.aop.async.CallableHold;
import io.github.distributedpermit.aop.async.ContextCapture;
import io.github.distributedpermit.aop.async.FutureHold;
import io.github.distributedpermit.aop.async.ListenerHold;
import io.github.distributedpermit.aop.async.ListenerThreads;
import io.github.distributedpermit.aop.async.PublisherHold;
import io.github.distributedpermit.aop.mvc.EntityPublisherHold;
import io.github.distributedpermit.aop.mvc.RequestHold;
import io.github.distributedpermit.aop.mvc.StreamingHold;
import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Observable;
import io.reactivex.rxjava3.core.Single;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.InputStreamSource;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpEntity;
import org.springframework.http.ResponseEntity;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What the type that a method declares to return decides. */
@ExtendWith(OutputCaptureExtension.class)
class AsyncReturnTypesTest {

    private final HoldStrategies strategies = new HoldStrategies(new ContextCapture(List::of), new ListenerThreads());

    @ParameterizedTest
    @CsvSource({
        "stage,FutureHold",
        "future,FutureHold",
        "completable,FutureHold",
        "mono,PublisherHold",
        "flux,PublisherHold",
        "publisher,PublisherHold",
        "flow,PublisherHold",
        "flowable,PublisherHold",
        "observable,PublisherHold",
        "single,PublisherHold",
        "maybe,PublisherHold",
        "rxCompletable,PublisherHold",
        "uni,PublisherHold",
        "multi,PublisherHold",
        "callable,CallableHold",
        "asyncFuture,AsyncMethodHold",
        "streaming,StreamingHold",
        "streamingAnswer,StreamingHold",
        "deferred,RequestHold",
        "webTask,RequestHold",
        "emitter,RequestHold",
        "emitterAnswer,RequestHold",
        "fluxAnswer,EntityPublisherHold",
        "monoEntity,EntityPublisherHold"
    })
    void permitIsHeldAsLongAsTheWorkRuns(String method, String strategy) {
        assertThat(strategies.of(find(Held.class, method), Held.class))
                .isNotNull()
                .satisfies(each -> assertThat(each.getClass().getSimpleName()).isEqualTo(strategy))
                .isInstanceOfAny(
                        FutureHold.class,
                        PublisherHold.class,
                        CallableHold.class,
                        AsyncMethodHold.class,
                        StreamingHold.class,
                        RequestHold.class,
                        EntityPublisherHold.class);
    }

    @ParameterizedTest
    @CsvSource({
        "servletAnswer,ServerResponse,the method returns",
        "reactiveAnswer,ServerResponse,the method returns",
        "monoOfAnswer,ServerResponse,that has ended",
        "stream,InputStream,the method returns",
        "file,FileInputStream,the method returns",
        "resource,Resource,the method returns",
        "source,InputStreamSource,the method returns",
        "optionalResource,Resource,the method returns",
        "resourceAnswer,Resource,the method returns",
        "monoOfResourceAnswer,Resource,that has ended",
        "futureResource,Resource,that has ended",
        "callableStream,InputStream,that has ended"
    })
    void contentThatIsReadAfterTheReleaseIsWarnedAbout(
            String method, String content, String released, CapturedOutput output) {
        strategies.of(find(ReadLater.class, method), ReadLater.class);
        assertThat(output)
                .contains("ReadLater." + method + "()")
                .contains("its permit is released when " + released + ", before the content of the " + content)
                .contains("acquireAsync");
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes", "memoryStream", "memoryResource", "bounded", "number", "object", "answer"})
    void contentInMemoryIsNotWarnedAbout(String method, CapturedOutput output) {
        strategies.of(find(InMemory.class, method), InMemory.class);
        assertThat(output).doesNotContain("its permit is released when");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nothing", "number", "object", "list", "optional", "answer", "async"})
    void permitIsReleasedWhenTheMethodReturns(String method) {
        assertThat(strategies.of(find(Done.class, method), Done.class)).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "stream,collection",
        "ints,Flux",
        "task,CompletableFuture",
        "connectable,Declare Flux",
        "nested,what is inside",
        "monoOfAnswer,what is inside",
        "futureAnswer,CompletionStage<ResponseEntity"
    })
    void workThatCannotBeObservedIsRefused(String method, String remedy) {
        assertThatExceptionOfType(InvalidPermitException.class)
                .isThrownBy(() -> strategies.of(find(Refused.class, method), Refused.class))
                .withMessageContaining(method + "()")
                .withMessageContaining(remedy)
                .withMessageContaining("@DistributedPermit.Exempt");
    }

    @ParameterizedTest
    @ValueSource(strings = {"optionalOfFuture", "listOfMonos"})
    void typesWithLaterValuesInsideAreWarnedAbout(String method, CapturedOutput output) {
        assertThat(strategies.of(find(Containers.class, method), Containers.class))
                .isNull();
        assertThat(output).contains(method + "()").contains("its permit is released when the method returns");
    }

    @ParameterizedTest
    @ValueSource(strings = {"jms", "rabbit", "kafka"})
    void messagesOfListenersWait(String method) {
        assertThat(strategies.of(find(Listeners.class, method), Listeners.class))
                .isInstanceOf(ListenerHold.class);
    }

    static class Listeners {

        @JmsListener(destination = "reports")
        void jms() {}

        @RabbitListener(queues = "reports")
        void rabbit() {}

        @KafkaListener(topics = "reports")
        void kafka() {}
    }

    @Test
    void onlyWideTypesLeaveOpenWhatIsReturned() {
        for (String method : List.of("nothing", "number", "list", "optional")) {
            assertThat(AsyncReturnTypes.isLeftOpen(find(Done.class, method), Done.class))
                    .as(method)
                    .isFalse();
        }
        assertThat(AsyncReturnTypes.isLeftOpen(find(Done.class, "object"), Done.class))
                .isTrue();
        assertThat(AsyncReturnTypes.isLeftOpen(find(Generic.class, "call"), Generic.class))
                .isTrue();
    }

    @Test
    void typeParameterIsResolved() {
        assertThat(strategies.of(find(Concrete.class, "call"), Concrete.class)).isInstanceOf(FutureHold.class);
    }

    @Test
    void streamStopsTheStart() {
        assertThat(refusal(LimitedStream.class))
                .hasMessageContaining("rows() in " + LimitedStream.class.getName())
                .hasMessageContaining("@DistributedPermit.Exempt");
    }

    @Test
    void exemptMethodOfALimitedTypeIsNotLimited() {
        local().withBean(PartlyLimited.class).run(context -> {
            PartlyLimited bean = context.getBean(PartlyLimited.class);
            assertThat(bean.limited(() -> Contexts.isFree(context, "typed"))).isFalse();
            assertThat(bean.exempt(() -> Contexts.isFree(context, "typed"))).isTrue();
            assertThat(bean.both(() -> Contexts.isFree(context, "own"))).isFalse();
            assertThat(bean.rows()).containsExactly("row");
        });
    }

    private static Method find(Class<?> type, String name) {
        return Objects.requireNonNull(ReflectionUtils.findMethod(type, name));
    }

    interface Held {
        CompletionStage<String> stage();

        Future<String> future();

        CompletableFuture<Void> completable();

        Mono<String> mono();

        Flux<String> flux();

        Publisher<String> publisher();

        Flow.Publisher<String> flow();

        Flowable<String> flowable();

        Observable<String> observable();

        Single<String> single();

        Maybe<String> maybe();

        Completable rxCompletable();

        Uni<String> uni();

        Multi<String> multi();

        Callable<String> callable();

        @Async
        CompletableFuture<String> asyncFuture();

        StreamingResponseBody streaming();

        ResponseEntity<StreamingResponseBody> streamingAnswer();

        DeferredResult<String> deferred();

        WebAsyncTask<String> webTask();

        SseEmitter emitter();

        ResponseEntity<SseEmitter> emitterAnswer();

        ResponseEntity<Flux<String>> fluxAnswer();

        HttpEntity<Mono<String>> monoEntity();
    }

    interface Done {
        void nothing();

        int number();

        Object object();

        List<String> list();

        Optional<String> optional();

        ResponseEntity<String> answer();

        @Async
        void async();
    }

    interface ReadLater {
        ServerResponse servletAnswer();

        org.springframework.web.reactive.function.server.ServerResponse reactiveAnswer();

        Mono<org.springframework.web.reactive.function.server.ServerResponse> monoOfAnswer();

        InputStream stream();

        FileInputStream file();

        Resource resource();

        InputStreamSource source();

        Optional<Resource> optionalResource();

        ResponseEntity<Resource> resourceAnswer();

        Mono<ResponseEntity<Resource>> monoOfResourceAnswer();

        CompletableFuture<Resource> futureResource();

        Callable<InputStream> callableStream();
    }

    interface InMemory extends Done {
        byte[] bytes();

        ByteArrayInputStream memoryStream();

        ResponseEntity<ByteArrayResource> memoryResource();

        /** Its argument is bounded by itself, so that it has arguments without end. */
        @SuppressWarnings("rawtypes")
        Enum bounded();
    }

    interface Refused {
        Stream<String> stream();

        IntStream ints();

        FutureTask<String> task();

        ConnectableFlux<String> connectable();

        Mono<Flux<String>> nested();

        Mono<ResponseEntity<Flux<String>>> monoOfAnswer();

        ResponseEntity<CompletionStage<String>> futureAnswer();
    }

    interface Containers {
        Optional<CompletableFuture<String>> optionalOfFuture();

        List<Mono<String>> listOfMonos();
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

    static class LimitedStream {
        @DistributedPermit(limit = 1)
        public Stream<String> rows() {
            return Stream.of("row");
        }
    }

    @DistributedPermit(key = "typed", limit = 1)
    static class PartlyLimited {
        public boolean limited(BooleanSupplier free) {
            return free.getAsBoolean();
        }

        @DistributedPermit.Exempt
        public boolean exempt(BooleanSupplier free) {
            return free.getAsBoolean();
        }

        @DistributedPermit.Exempt
        @DistributedPermit(key = "own", limit = 1)
        public boolean both(BooleanSupplier free) {
            return free.getAsBoolean();
        }

        @DistributedPermit.Exempt
        public Stream<String> rows() {
            return Stream.of("row");
        }
    }
}
