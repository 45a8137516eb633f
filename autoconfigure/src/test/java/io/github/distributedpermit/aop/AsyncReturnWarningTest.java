package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Subscriber;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpEntity;
import org.springframework.http.ResponseEntity;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

@ExtendWith(OutputCaptureExtension.class)
class AsyncReturnWarningTest {

    private static final String WARNING = "its permit is back before the work has ended";

    @ParameterizedTest
    @MethodSource
    void valueThatEndsLaterIsWarnedAboutOncePerMethod(Object late, CapturedOutput output) {
        local().withBean(Service.class).run(context -> {
            Service service = context.getBean(Service.class);
            for (int i = 0; i < 3; i++) {
                assertThat(service.anything(late)).isSameAs(late);
            }
            assertThat(output.getOut().split(WARNING, -1)).hasSize(2);
            assertThat(output)
                    .contains("Service.anything(java.lang.Object)")
                    .contains("acquireAsync")
                    .containsAnyOf("CompletableFuture", "Mono", "Flux", "Pipeline");
        });
    }

    static Stream<Object> valueThatEndsLaterIsWarnedAboutOncePerMethod() {
        return Stream.of(new CompletableFuture<String>(), Mono.never(), Flux.never(), Stream.of("row"));
    }

    @Test
    void answerThroughAParameterIsWarnedAboutAtStart(CapturedOutput output) {
        local().withBean(Answering.class).run(context -> {
            assertThat(output.getOut().split("may answer through its parameter", -1))
                    .hasSize(4);
            assertThat(output)
                    .contains("Answering.call(java.lang.String,java.util.concurrent.Flow$Subscriber)")
                    .contains("through its parameter of type OwnSubscriber")
                    .contains("through its parameter of type MonoSink")
                    .contains("acquireAsync");
        });
    }

    @Test
    void bodyOfAWebAnswerIsLookedAt(CapturedOutput output) {
        local().withBean(Service.class).run(context -> {
            Service service = context.getBean(Service.class);
            service.answer("text");
            service.answer(null);
            assertThat(output).doesNotContain(WARNING);
            service.answer(Mono.never());
            assertThat(output).contains(WARNING).contains("Service.answer(java.lang.Object)");
        });
    }

    @Test
    void bodyThatCannotBeAskedForLeavesTheCallerItsResult() {
        local().withBean(Service.class).run(context -> {
            HttpEntity<Object> answer = new HttpEntity<>("text") {
                @Override
                public Object getBody() {
                    throw new IllegalStateException("is consumed already");
                }
            };
            assertThat(context.getBean(Service.class).anything(answer)).isSameAs(answer);
        });
    }

    @Test
    void bodyThatOnlyItsOwnPackageMayAskForIsLookedAt(CapturedOutput output) {
        local().withBean(Service.class).run(context -> {
            context.getBean(Service.class).anything(new Answer());
            assertThat(output).contains(WARNING);
        });
    }

    @Test
    void valueThatHasEndedIsNotWarnedAbout(CapturedOutput output) {
        local().withBean(Service.class).run(context -> {
            Service service = context.getBean(Service.class);
            for (Object done : List.of("text", 7, List.of(), CompletableFuture.completedFuture("text"))) {
                assertThat(service.anything(done)).isSameAs(done);
            }
            assertThat(service.anything(null)).isNull();
            assertThat(output).doesNotContain(WARNING);
        });
    }

    private static final class Answer extends HttpEntity<Object> {
        @Override
        public Object getBody() {
            return Mono.never();
        }
    }

    static class Service {
        @DistributedPermit(key = "anything", limit = 1)
        public @Nullable Object anything(@Nullable Object value) {
            return value;
        }

        @DistributedPermit(key = "answer", limit = 1)
        public ResponseEntity<?> answer(@Nullable Object body) {
            return ResponseEntity.ofNullable(body);
        }
    }

    interface OwnSubscriber<T> extends Subscriber<T> {}

    static class Answering {

        @DistributedPermit(key = "flow", limit = 1)
        public void call(String request, Flow.Subscriber<String> answer) {}

        @DistributedPermit(key = "own", limit = 1)
        public void call(OwnSubscriber<String> answer) {}

        @DistributedPermit(key = "sink", limit = 1)
        public String call(MonoSink<String> answer) {
            return "";
        }

        @DistributedPermit(key = "held", limit = 1)
        public Mono<String> held(MonoSink<String> answer) {
            return Mono.empty();
        }

        @DistributedPermit(key = "ordinary", limit = 1)
        public void ordinary(List<Flow.Subscriber<String>> all, CompletableFuture<String> input) {}
    }
}
