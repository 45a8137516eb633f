package io.github.distributedpermit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** WebFlux with real HTTP: reactive types hold their permit, and rejections become problem details. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
class WebFluxMethodsTest {

    private final WebServer server = new WebServer(WebApplicationType.REACTIVE, Application.class);

    @BeforeAll
    void start() {
        server.start();
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"mono", "flux", "answer", "future"})
    void permitIsHeldUntilTheWorkHasEnded(String path) throws Exception {
        Controller controller = server.bean(Controller.class);
        CompletableFuture<String> end = controller.begin();
        CompletableFuture<HttpResponse<String>> answer = server.get("/" + path);
        await().until(() -> server.bean(Gauges.class).holders() == 1);
        end.complete("done");
        assertThat(answer.get(20, TimeUnit.SECONDS).body()).isEqualTo("done");
        await().until(() -> server.isFree("web"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"mono", "flux", "answer", "future"})
    void rejectionIsAProblemDetail(String path, CapturedOutput output) throws Exception {
        server.bean(Controller.class).begin();
        try (Permit taken = server.acquire("web")) {
            HttpResponse<String> answer = server.get("/" + path).get(20, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).isEqualTo(429);
            assertThat(answer.headers().firstValue("Retry-After")).isPresent();
            assertThat(answer.headers().firstValue("Content-Type")).contains("application/problem+json");
            assertThat(answer.body())
                    .contains("urn:distributed-permit:problem:limit-reached")
                    .contains("\"permit\":\"web-name\"")
                    .doesNotContain("\"web\"");
            assertThat(taken.isHeld()).isTrue();
        }
        Logs.assertQuiet(output);
    }

    @Test
    void disconnectedClientReleasesThePermit() {
        server.bean(Controller.class).begin();
        CompletableFuture<HttpResponse<String>> answer = server.get("/mono");
        await().until(() -> server.bean(Gauges.class).holders() == 1);
        answer.cancel(true);
        await().until(() -> server.isFree("web"));
    }

    @Test
    void blockingMethodOnAnEventLoopIsRefused() throws Exception {
        HttpResponse<String> answer = server.get("/blocking").get(20, TimeUnit.SECONDS);
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(server.isFree("web")).isTrue();
    }

    @Test
    void underLoadEachRequestIsAnsweredOrToldToTryAgain(CapturedOutput output) throws Exception {
        try (Permit taken = server.acquire("web")) {
            assertThat(server.statuses("/short", "/now")).containsExactlyInAnyOrder(429, 503);
            assertThat(taken.isHeld()).isTrue();
        }
        assertThat(server.statuses("/short", "/now")).contains(200).isSubsetOf(200, 429, 503);
        await().until(() -> server.isFree("web"));
        Logs.assertQuiet(output);
    }

    @Test
    void shutdownAnswersRequestsThatWaitLongerThanItDrains() throws Exception {
        WebServer stopping = new WebServer(WebApplicationType.REACTIVE, Application.class, WebServer.SHORT_DRAIN);
        stopping.start();
        Controller controller = stopping.bean(Controller.class);
        CompletableFuture<String> end = controller.begin();
        CompletableFuture<HttpResponse<String>> running = stopping.get("/mono");
        await().until(() -> stopping.bean(Gauges.class).holders() == 1);
        CompletableFuture<HttpResponse<String>> mono = stopping.get("/waiting");
        CompletableFuture<HttpResponse<String>> future = stopping.get("/waiting-future");
        await().until(() -> stopping.bean(Gauges.class).waiters() == 2);
        CompletableFuture<Void> closed = CompletableFuture.runAsync(stopping::close);
        for (CompletableFuture<HttpResponse<String>> each : List.of(mono, future)) {
            HttpResponse<String> answer = each.get(40, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.body()).contains("shutting-down");
        }
        end.complete("done");
        assertThat(running.get(40, TimeUnit.SECONDS).body()).isEqualTo("done");
        closed.get(60, TimeUnit.SECONDS);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(ReactiveServer.class)
    static class Application {

        @Bean
        Gauges gauges() {
            return new Gauges();
        }

        @Bean
        Controller controller() {
            return new Controller();
        }
    }

    @RestController
    @DistributedPermit(key = "web", name = "web-name", limit = 1, block = false)
    static class Controller {

        private volatile CompletableFuture<String> end = new CompletableFuture<>();

        @DistributedPermit.Exempt
        public CompletableFuture<String> begin() {
            end = new CompletableFuture<>();
            return end;
        }

        @GetMapping("/mono")
        public Mono<String> mono() {
            return Mono.fromFuture(end);
        }

        @GetMapping("/flux")
        public Flux<String> flux() {
            return Flux.from(Mono.fromFuture(end));
        }

        @GetMapping("/answer")
        public ResponseEntity<Mono<String>> answer() {
            return ResponseEntity.ok(Mono.fromFuture(end));
        }

        @GetMapping("/future")
        public CompletableFuture<String> future() {
            return end;
        }

        @GetMapping("/short")
        @DistributedPermit(key = "web", name = "web-name", limit = 1, timeout = "100ms")
        public Mono<String> shortWork() {
            return Mono.just("done").delayElement(Duration.ofMillis(20));
        }

        @GetMapping("/now")
        public Mono<String> nowOrNever() {
            return Mono.just("done").delayElement(Duration.ofMillis(20));
        }

        @GetMapping("/waiting")
        @DistributedPermit(key = "web", name = "web-name", limit = 1)
        public Mono<String> waiting() {
            return Mono.just("never");
        }

        @GetMapping("/waiting-future")
        @DistributedPermit(key = "web", name = "web-name", limit = 1)
        public CompletableFuture<String> waitingFuture() {
            return CompletableFuture.completedFuture("never");
        }

        @GetMapping("/blocking")
        public String blocking() {
            return "never";
        }
    }
}
