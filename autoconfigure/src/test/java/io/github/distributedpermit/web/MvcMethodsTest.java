package io.github.distributedpermit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.DeferredResultProcessingInterceptor;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.config.annotation.AsyncSupportConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Mono;

/** Spring MVC with real HTTP: asynchronous types hold their permit, and rejections become problem details. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
class MvcMethodsTest {

    private final WebServer server = new WebServer(
            WebApplicationType.SERVLET, Application.class, "distributed-permit.permits[tenant-*].limit=1");

    @BeforeAll
    void start() {
        server.start();
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "callable",
                "task",
                "deferred",
                "streaming",
                "streaming-answer",
                "emitter",
                "emitter-answer",
                "future",
                "mono"
            })
    void permitIsHeldUntilTheWorkOfTheRequestHasEnded(String path) throws Exception {
        Work work = server.bean(Work.class).begin();
        CompletableFuture<HttpResponse<String>> answer = server.get("/" + path);
        await().until(() -> work.started.isDone());
        assertThat(server.isFree("web")).isFalse();
        work.end.complete("done");
        assertThat(answer.get(20, TimeUnit.SECONDS).body()).contains("done");
        await().until(() -> server.isFree("web"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"callable", "task", "deferred", "streaming", "emitter", "future", "mono"})
    void errorOfTheWorkReleasesThePermit(String path) throws Exception {
        Work work = server.bean(Work.class).begin();
        CompletableFuture<HttpResponse<String>> answer = server.get("/" + path);
        await().until(() -> work.started.isDone());
        work.end.completeExceptionally(new IllegalStateException("of the work"));
        answer.handle((response, failure) -> true).get(20, TimeUnit.SECONDS);
        await().until(() -> server.isFree("web"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"callable", "task", "deferred", "streaming", "emitter", "future", "mono", "plain"})
    void rejectionIsAProblemDetailAlsoWithinAsynchronousTypes(String path, CapturedOutput output) throws Exception {
        server.bean(Work.class).begin();
        try (Permit taken = server.acquire("web")) {
            HttpResponse<String> answer = server.get("/" + path).get(20, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).isEqualTo(429);
            assertThat(answer.headers().firstValue("Retry-After")).isPresent();
            assertThat(answer.headers().firstValue("Content-Type")).contains("application/problem+json");
            assertThat(answer.body())
                    .contains("urn:distributed-permit:problem:limit-reached")
                    .contains("\"permit\":\"web-name\"")
                    .contains("\"reason\":\"limit-reached\"")
                    .doesNotContain("\"web\"");
            assertThat(taken.isHeld()).isTrue();
        }
        assertThat(server.isFree("web")).isTrue();
        Logs.assertQuiet(output);
    }

    @Test
    void retryAfterIsTheTimeThatPermitsOfTheNameOrOfItsPatternAreHeld() throws Exception {
        Permits permits = server.bean(Permits.class);
        try (Permit held = permits.named("tenant-1").acquire("tenant-1")) {
            await().pollDelay(Duration.ofMillis(1_100)).until(held::isHeld);
        }
        try (Permit taken = permits.named("tenant-2").acquire("tenant-2")) {
            HttpResponse<String> answer = server.get("/tenants/2").get(20, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).isEqualTo(429);
            assertThat(answer.body()).contains("\"permit\":\"tenant-2\"");
            assertThat(answer.headers().firstValueAsLong("Retry-After").orElse(0))
                    .isGreaterThan(1);
            assertThat(taken.isHeld()).isTrue();
        }
    }

    @Test
    void timeOutIsUnavailable() throws Exception {
        try (Permit taken = server.acquire("web")) {
            HttpResponse<String> answer = server.get("/impatient").get(20, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.body()).contains("timed-out");
            assertThat(taken.isHeld()).isTrue();
        }
    }

    @Test
    void underLoadEachRequestIsAnsweredOrToldToTryAgain(CapturedOutput output) throws Exception {
        try (Permit taken = server.acquire("web")) {
            assertThat(server.statuses("/short-now")).containsOnly(429);
            assertThat(server.statuses("/short")).containsOnly(503);
            assertThat(taken.isHeld()).isTrue();
        }
        assertThat(server.statuses("/short", "/short-now")).contains(200).isSubsetOf(200, 429, 503);
        assertThat(server.isFree("web")).isTrue();
        Logs.assertQuiet(output);
    }

    @Test
    void shutdownAnswersRequestsThatWaitLongerThanItDrains() throws Exception {
        WebServer stopping = new WebServer(WebApplicationType.SERVLET, Application.class, WebServer.SHORT_DRAIN);
        stopping.start();
        Gauges gauges = stopping.bean(Gauges.class);
        // A running request: Tomcat may cut off the answer of the last one, whose end it counts before the answer is
        // sent.
        Work work = stopping.bean(Work.class).begin();
        CompletableFuture<HttpResponse<String>> running = stopping.get("/callable");
        work.started.get(40, TimeUnit.SECONDS);
        CompletableFuture<HttpResponse<String>> thread = stopping.get("/waiting");
        CompletableFuture<HttpResponse<String>> reactive = stopping.get("/waiting-mono");
        await().until(() -> gauges.waiters() == 2);
        CompletableFuture<Void> closed = CompletableFuture.runAsync(stopping::close);
        for (CompletableFuture<HttpResponse<String>> each : List.of(thread, reactive)) {
            HttpResponse<String> answer = each.get(40, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.body()).contains("shutting-down");
        }
        work.end.complete("done");
        closed.get(60, TimeUnit.SECONDS);
    }

    @Test
    void handlerOfTheApplicationWins() throws Exception {
        try (Permit taken = server.acquire("web")) {
            HttpResponse<String> answer = server.get("/own").get(20, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).isEqualTo(418);
            assertThat(answer.body()).isEqualTo("mine");
            assertThat(taken.isHeld()).isTrue();
        }
    }

    @Test
    void adviceOfTheApplicationWins() throws Exception {
        try (Permit taken = server.acquire("web")) {
            HttpResponse<String> answer = server.get("/advised").get(20, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).isEqualTo(418);
            assertThat(answer.body()).isEqualTo("advice");
            assertThat(taken.isHeld()).isTrue();
        }
    }

    /** An exception of the application says itself what it wants to be answered with, whatever its cause is. */
    @ParameterizedTest
    @ValueSource(strings = {"error-response", "response-status", "response-status-inside"})
    void answerOfTheApplicationsOwnExceptionIsLeftToSpring(String path, CapturedOutput output) throws Exception {
        HttpResponse<String> answer = server.get("/wrapped/" + path).get(20, TimeUnit.SECONDS);
        assertThat(answer.statusCode()).isEqualTo(409);
        assertThat(answer.body()).doesNotContain("distributed-permit");
        Logs.assertQuiet(output);
    }

    @Test
    void causeOfAnExceptionWithoutAnAnswerIsAnswered() throws Exception {
        HttpResponse<String> answer = server.get("/wrapped/plain").get(20, TimeUnit.SECONDS);
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body()).contains("timed-out");
    }

    @Test
    void rejectionDoesNotKeepTheLengthOfTheBodyThatWasNotWritten() throws Exception {
        server.bean(Work.class).begin();
        try (Permit taken = server.acquire("web")) {
            for (String path : List.of("/sized", "/sized-mono")) {
                HttpResponse<String> answer = server.get(path).get(20, TimeUnit.SECONDS);
                assertThat(answer.statusCode()).isEqualTo(429);
                assertThat(answer.body()).endsWith("}").contains("limit-reached");
                assertThat(answer.headers().firstValue("Content-Encoding")).isEmpty();
            }
            HttpResponse<String> instead = server.get("/sized-fallback").get(20, TimeUnit.SECONDS);
            assertThat(instead.body()).isEqualTo("instead of the body");
            assertThat(taken.isHeld()).isTrue();
        }
    }

    @Test
    void timeOutOfADeferredResultReleasesThePermit() throws Exception {
        Work work = server.bean(Work.class).begin();
        assertThat(server.get("/deferred-short").get(20, TimeUnit.SECONDS).statusCode())
                .isEqualTo(503);
        assertThat(work.end).isNotDone();
        await().until(() -> server.isFree("web"));
    }

    /** Spring calls no further interceptor then. */
    @Test
    void interceptorOfTheApplicationThatThrowsLosesNoPermit() throws Exception {
        server.bean(Work.class).begin();
        assertThat(server.get("/deferred?refused").get(20, TimeUnit.SECONDS).statusCode())
                .isEqualTo(500);
        await().until(() -> server.isFree("web"));
    }

    @Test
    void timeOutOfAnEmitterReleasesThePermit() throws Exception {
        Work work = server.bean(Work.class).begin();
        server.get("/emitter-short").handle((answer, failure) -> true).get(20, TimeUnit.SECONDS);
        assertThat(work.end).isNotDone();
        await().until(() -> server.isFree("web"));
    }

    /** The task cannot be stopped, and needs its permit until it returns. */
    @Test
    void taskThatOutlivesItsRequestHoldsItsPermit() throws Exception {
        Work work = server.bean(Work.class).begin();
        CompletableFuture<HttpResponse<String>> answer = server.get("/task-short");
        work.started.get(20, TimeUnit.SECONDS); // a task that has not begun when its request times out never runs
        assertThat(answer.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
        assertThat(server.isFree("web")).isFalse();
        work.end.complete("done");
        await().until(() -> server.isFree("web"));
    }

    /** Spring MVC interrupts a task whose request times out, and the interrupted wait may be answered first. */
    @Test
    void interruptedWaitIsAnswered503WithoutAStackTrace(CapturedOutput output) throws Exception {
        HttpResponse<String> answer = server.get("/wrapped/interrupted").get(20, TimeUnit.SECONDS);
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body()).contains("urn:distributed-permit:problem:interrupted");
        Logs.assertQuiet(output);
    }

    @Test
    void callableWhoseRequestTimesOutWhileItWaitsLeavesTheQueue() throws Exception {
        try (WebServer impatient =
                new WebServer(WebApplicationType.SERVLET, Application.class, "spring.mvc.async.request-timeout=7s")) {
            impatient.start();
            Gauges gauges = impatient.bean(Gauges.class);
            try (Permit taken = impatient.acquire("web")) {
                CompletableFuture<HttpResponse<String>> answer = impatient.get("/waiting-callable");
                await().until(() -> gauges.waiters() == 1);
                assertThat(answer.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
                await().until(() -> gauges.waiters() == 0);
                assertThat(taken.isHeld()).isTrue();
            }
            assertThat(impatient.isFree("web")).isTrue();
        }
    }

    @Test
    void asynchronousTypeOfMvcOutsideOfARequestIsRefused() {
        Controller controller = server.bean(Controller.class);
        assertThatIllegalStateException()
                .isThrownBy(controller::deferred)
                .withMessageContaining("while Spring MVC handles a request");
        assertThat(server.isFree("web")).isTrue();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Work.Holder holder() {
            return new Work.Holder();
        }

        @Bean
        @Scope("prototype")
        Work work(Work.Holder holder) {
            return new Work(holder);
        }

        @Bean
        Controller controller(Work.Holder holder) {
            return new Controller(holder);
        }

        @Bean
        Gauges gauges() {
            return new Gauges();
        }

        @Bean
        Advised advised() {
            return new Advised();
        }

        @Bean
        OwnAdvice ownAdvice() {
            return new OwnAdvice();
        }

        @Bean
        Own own() {
            return new Own();
        }

        @Bean
        WebMvcConfigurer asyncInterceptors() {
            return new WebMvcConfigurer() {
                @Override
                public void configureAsyncSupport(AsyncSupportConfigurer configurer) {
                    configurer.registerDeferredResultInterceptors(new DeferredResultProcessingInterceptor() {
                        @Override
                        public <T> void preProcess(NativeWebRequest request, DeferredResult<T> result) {
                            if (request.getParameter("refused") != null) {
                                throw new IllegalStateException("of an interceptor");
                            }
                        }
                    });
                }
            };
        }

        @Bean
        Tenants tenants(Permits permits) {
            return new Tenants(permits);
        }

        @Bean
        Wrapping wrapping() {
            return new Wrapping();
        }
    }

    static final class Work {

        final CompletableFuture<Boolean> started = new CompletableFuture<>();
        final CompletableFuture<String> end = new CompletableFuture<>();
        private final Holder holder;

        Work(Holder holder) {
            this.holder = holder;
        }

        Work begin() {
            holder.current.set(this);
            return this;
        }

        String await() {
            started.complete(true);
            return end.join();
        }

        static final class Holder {
            private final AtomicReference<@Nullable Work> current = new AtomicReference<>();

            Work get() {
                return Objects.requireNonNull(current.get());
            }
        }
    }

    @RestController
    static class Advised {

        @GetMapping("/advised")
        @DistributedPermit(key = "web", name = "web-name", limit = 1, block = false)
        public String advised() {
            return "never";
        }
    }

    @RestController
    static class Tenants {

        private final Permits permits;

        Tenants(Permits permits) {
            this.permits = permits;
        }

        @GetMapping("/tenants/{id}")
        public String tenant(@PathVariable("id") String id) throws Exception {
            String name = "tenant-" + id;
            return permits.named(name)
                    .call(PermitRequest.builder(name).withoutWaiting().build(), () -> "never");
        }
    }

    /** Without an order, as most are. */
    @RestControllerAdvice(assignableTypes = Advised.class)
    static class OwnAdvice {

        @ExceptionHandler
        public ResponseEntity<String> any(RejectedExecutionException e) {
            return ResponseEntity.status(418).body("advice");
        }
    }

    @RestController
    static class Own {

        @GetMapping("/own")
        @DistributedPermit(key = "web", name = "web-name", limit = 1, block = false)
        public String own() {
            return "never";
        }

        @ExceptionHandler
        public ResponseEntity<String> mine(PermitRejectedException e) {
            return ResponseEntity.status(418).body("mine");
        }
    }

    @ResponseStatus(HttpStatus.CONFLICT)
    static final class Conflict extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Conflict(Throwable cause) {
            super(cause);
        }
    }

    @RestController
    static class Wrapping {

        @GetMapping("/wrapped/{how}")
        public String wrapped(@PathVariable("how") String how) {
            PermitRejectedException rejected = new PermitRejectedException(
                    "web-name", "web", PermitRejectedException.Reason.TIMED_OUT, "of a test");
            throw switch (how) {
                case "error-response" -> new ResponseStatusException(HttpStatus.CONFLICT, "mine", rejected);
                case "response-status" -> new Conflict(rejected);
                case "interrupted" -> new PermitInterruptedException("of a test", new InterruptedException());
                case "response-status-inside" -> new IllegalStateException(new Conflict(rejected));
                default -> new IllegalStateException(rejected);
            };
        }
    }

    @RestController
    @DistributedPermit(key = "web", name = "web-name", limit = 1, block = false)
    static class Controller {

        private final Work.Holder holder;

        Controller(Work.Holder holder) {
            this.holder = holder;
        }

        @GetMapping("/plain")
        public String plain() {
            return "never";
        }

        @GetMapping("/impatient")
        @DistributedPermit(key = "web", name = "web-name", limit = 1, timeout = "20ms")
        public String impatient() {
            return "never";
        }

        @GetMapping("/short")
        @DistributedPermit(key = "web", name = "web-name", limit = 1, timeout = "100ms")
        public String shortWork() throws InterruptedException {
            Thread.sleep(5);
            return "done";
        }

        @GetMapping("/short-now")
        public String shortWorkNow() throws InterruptedException {
            Thread.sleep(5);
            return "done";
        }

        @GetMapping("/waiting")
        @DistributedPermit(key = "web", name = "web-name", limit = 1)
        public String waiting() {
            return "never";
        }

        @GetMapping("/waiting-mono")
        @DistributedPermit(key = "web", name = "web-name", limit = 1)
        public Mono<String> waitingMono() {
            return Mono.just("never");
        }

        @GetMapping("/waiting-callable")
        @DistributedPermit(key = "web", name = "web-name", limit = 1)
        public Callable<String> waitingCallable() {
            return () -> "never";
        }

        @GetMapping("/task-short")
        public WebAsyncTask<String> taskShort() {
            return new WebAsyncTask<>(5_000L, holder.get()::await);
        }

        @GetMapping("/callable")
        public Callable<String> callable() {
            return holder.get()::await;
        }

        @GetMapping("/task")
        public WebAsyncTask<String> task() {
            return new WebAsyncTask<>(10_000L, holder.get()::await);
        }

        @GetMapping("/deferred")
        public DeferredResult<String> deferred() {
            return deferred(new DeferredResult<>(10_000L));
        }

        @GetMapping("/deferred-short")
        public DeferredResult<String> deferredShort() {
            return deferred(new DeferredResult<>(50L));
        }

        private DeferredResult<String> deferred(DeferredResult<String> result) {
            Work work = holder.get();
            work.end.whenComplete((value, failure) -> {
                if (failure == null) {
                    result.setResult(value);
                } else {
                    result.setErrorResult(failure);
                }
            });
            work.started.complete(true);
            return result;
        }

        @GetMapping("/streaming")
        public StreamingResponseBody streaming() {
            Work work = holder.get();
            return out -> out.write(work.await().getBytes(StandardCharsets.UTF_8));
        }

        @GetMapping("/streaming-answer")
        public ResponseEntity<StreamingResponseBody> streamingAnswer() {
            return ResponseEntity.ok(streaming());
        }

        @GetMapping("/sized")
        public ResponseEntity<StreamingResponseBody> sized() {
            return ResponseEntity.ok()
                    .contentLength(4)
                    .header("Content-Encoding", "identity")
                    .body(streaming());
        }

        @GetMapping("/sized-fallback")
        @DistributedPermit(key = "web", name = "web-name", limit = 1, block = false, fallback = "instead")
        public ResponseEntity<StreamingResponseBody> sizedWithFallback() {
            return sized();
        }

        ResponseEntity<StreamingResponseBody> instead() {
            return ResponseEntity.ok(out -> out.write("instead of the body".getBytes(StandardCharsets.UTF_8)));
        }

        @GetMapping("/sized-mono")
        public ResponseEntity<Mono<String>> sizedMono() {
            return ResponseEntity.ok().contentLength(4).body(mono());
        }

        @GetMapping("/emitter")
        public SseEmitter emitter() {
            return emitter(new SseEmitter(10_000L));
        }

        @GetMapping("/emitter-short")
        public SseEmitter emitterShort() {
            return emitter(new SseEmitter(50L));
        }

        private SseEmitter emitter(SseEmitter emitter) {
            Work work = holder.get();
            work.end.whenComplete((value, failure) -> {
                try {
                    if (failure == null) {
                        emitter.send(value);
                        emitter.complete();
                    } else {
                        emitter.completeWithError(failure);
                    }
                } catch (IOException e) {
                    emitter.completeWithError(e);
                }
            });
            work.started.complete(true);
            return emitter;
        }

        @GetMapping("/emitter-answer")
        public ResponseEntity<SseEmitter> emitterAnswer() {
            return ResponseEntity.ok(emitter());
        }

        @GetMapping("/future")
        public CompletableFuture<String> future() {
            Work work = holder.get();
            work.started.complete(true);
            return work.end;
        }

        @GetMapping("/mono")
        public Mono<String> mono() {
            Work work = holder.get();
            work.started.complete(true);
            return Mono.fromFuture(work.end);
        }
    }
}
