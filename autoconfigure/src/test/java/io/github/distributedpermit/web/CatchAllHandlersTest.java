package io.github.distributedpermit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.WebFilter;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;
import reactor.core.publisher.Mono;

/** Which handler answers a rejected request in an application that handles every exception itself. */
@ExtendWith(OutputCaptureExtension.class)
class CatchAllHandlersTest {

    private static final String WARNING = "answered by CatchAllHandlersTest.Advice.any()";

    @Test
    void libraryAnswersBeforeAHandlerForEveryException(CapturedOutput output) throws Exception {
        HttpResponse<String> answer = answer(WebApplicationType.SERVLET, CatchAll.class, "/limited", "*/*");

        assertThat(answer.statusCode()).isEqualTo(429);
        assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(answer.body()).contains("web-name");
        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void otherExceptionsAreLeftToTheApplication() throws Exception {
        assertThat(answer(WebApplicationType.SERVLET, CatchAll.class, "/broken", "*/*")
                        .body())
                .isEqualTo("any");
        assertThat(answer(WebApplicationType.SERVLET, Wrapping.class, "/wrapped", "*/*")
                        .body())
                .isEqualTo("wrapped");
    }

    @ParameterizedTest
    @ValueSource(classes = {ForRejections.class, ForItsSuperType.class})
    void handlerOfTheApplicationForTheExceptionAnswersInWhateverAdvice(Class<?> application) throws Exception {
        assertThat(answer(WebApplicationType.SERVLET, application, "/limited", "*/*")
                        .body())
                .isEqualTo("close");
    }

    @Test
    void handlerOfTheControllerAnswers() throws Exception {
        assertThat(answer(WebApplicationType.SERVLET, CatchAll.class, "/own", "*/*")
                        .body())
                .isEqualTo("own");
    }

    @Test
    void functionalEndpointIsAnswered() throws Exception {
        assertThat(answer(WebApplicationType.SERVLET, CatchAll.class, "/functional", "*/*")
                        .statusCode())
                .isEqualTo(429);
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void filterIsAnswered(WebApplicationType type) throws Exception {
        assertProblem(answer(type, CatchAll.class, "/filtered", "*/*"));
    }

    private static void assertProblem(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).isEqualTo(429);
        assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(answer.body()).contains("web-name");
    }

    @Test
    void handlerOfTheApplicationAnswersFiltersToo() throws Exception {
        assertThat(answer(WebApplicationType.SERVLET, ForRejections.class, "/filtered", "*/*")
                        .body())
                .isEqualTo("close");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/limited", "/filtered"})
    void browserGetsTheErrorPage(String path) throws Exception {
        HttpResponse<String> answer =
                answer(WebApplicationType.SERVLET, CatchAll.class, path, "text/html,application/xhtml+xml,*/*;q=0.8");

        assertThat(answer.statusCode()).isEqualTo(429);
        assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(answer.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("text/html"));
    }

    @Test
    void webFluxWarnsOfAHandlerThatAnswersBefore(CapturedOutput output) throws Exception {
        assertThat(answer(WebApplicationType.REACTIVE, CatchAll.class, "/limited", "*/*")
                        .statusCode())
                .isEqualTo(500);
        assertThat(output).contains(WARNING);
    }

    @Test
    void webFluxTakesTheAnswersThatHaveAnOrder(CapturedOutput output) throws Exception {
        assertThat(answer(WebApplicationType.REACTIVE, CatchAllAndOrderedAnswers.class, "/limited", "*/*")
                        .statusCode())
                .isEqualTo(429);
        assertThat(output).doesNotContain(WARNING);
    }

    private static HttpResponse<String> answer(
            WebApplicationType type, Class<?> application, String path, String accept) throws Exception {
        try (WebServer server = new WebServer(type, application)) {
            server.start();
            try (Permit taken = server.acquire("web")) {
                assertThat(taken.isHeld()).isTrue();
                return server.get(path, accept).get(20, TimeUnit.SECONDS);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(ReactiveServer.class)
    static class CatchAll {

        @Bean
        Controller controller() {
            return new Controller();
        }

        @Bean
        WithHandler withHandler() {
            return new WithHandler();
        }

        @Bean
        @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
        RouterFunction<ServerResponse> functional(Permits permits) {
            return RouterFunctions.route()
                    .GET("/functional", request -> {
                        permits.named("web-name")
                                .acquire(PermitRequest.of("web").withoutWaiting());
                        return ServerResponse.ok().build();
                    })
                    .build();
        }

        @Bean
        @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
        Filter filter(Permits permits) {
            return (request, response, chain) -> {
                if (((HttpServletRequest) request).getRequestURI().equals("/filtered")) {
                    take(permits);
                }
                chain.doFilter(request, response);
            };
        }

        @Bean
        @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
        WebFilter webFilter(Permits permits) {
            return (exchange, chain) -> exchange.getRequest().getPath().value().equals("/filtered")
                    ? Mono.fromFuture(() -> permits.named("web-name")
                                    .acquireAsync(PermitRequest.of("web").withoutWaiting()))
                            .then(chain.filter(exchange))
                    : chain.filter(exchange);
        }

        private static void take(Permits permits) {
            try {
                permits.named("web-name").acquire(PermitRequest.of("web").withoutWaiting());
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Bean
        Advice advice() {
            return new Advice();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(CatchAll.class)
    static class CatchAllAndOrderedAnswers {

        @Bean
        @Order(0)
        PermitProblems permitProblems(HoldTimes holdTimes) {
            return new PermitProblems(holdTimes);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(CatchAll.class)
    static class ForRejections {

        @Bean
        RejectionAdvice rejectionAdvice() {
            return new RejectionAdvice();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(CatchAll.class)
    static class ForItsSuperType {

        @Bean
        SuperTypeAdvice superTypeAdvice() {
            return new SuperTypeAdvice();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(CatchAll.class)
    static class Wrapping {

        @Bean
        WrappingController wrappingController(Permits permits) {
            return new WrappingController(permits);
        }

        @Bean
        WrapperAdvice wrapperAdvice() {
            return new WrapperAdvice();
        }
    }

    /** After the one for every exception, whose order is the same. */
    @RestControllerAdvice
    static class RejectionAdvice {

        @ExceptionHandler
        public ResponseEntity<String> rejected(PermitRejectedException rejection) {
            return ResponseEntity.status(418).body("close");
        }
    }

    @RestControllerAdvice
    static class SuperTypeAdvice {

        @ExceptionHandler
        public ResponseEntity<String> rejected(RejectedExecutionException rejection) {
            return ResponseEntity.status(418).body("close");
        }
    }

    @RestController
    static class WithHandler {

        @GetMapping("/own")
        @DistributedPermit(key = "web", name = "web-name", limit = 1, block = false)
        public String limited() {
            return "never";
        }

        @ExceptionHandler(Exception.class)
        public ResponseEntity<String> own() {
            return ResponseEntity.badRequest().body("own");
        }
    }

    @RestController
    static class WrappingController {

        private final Permits permits;

        WrappingController(Permits permits) {
            this.permits = permits;
        }

        @GetMapping("/wrapped")
        public String wrapped() throws InterruptedException {
            try {
                permits.named("web-name")
                        .acquire(PermitRequest.of("web").withoutWaiting())
                        .release();
                return "never";
            } catch (PermitRejectedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Order(Ordered.HIGHEST_PRECEDENCE)
    @RestControllerAdvice
    static class WrapperAdvice {

        @ExceptionHandler
        public ResponseEntity<String> wrapped(IllegalStateException wrapper) {
            return ResponseEntity.badRequest().body("wrapped");
        }
    }

    @RestController
    static class Controller {

        @GetMapping("/broken")
        public String broken() {
            throw new UnsupportedOperationException();
        }

        @GetMapping("/limited")
        @DistributedPermit(key = "web", name = "web-name", limit = 1, block = false)
        public Mono<String> limited() {
            return Mono.just("never");
        }
    }

    /** Without an order, as most are. */
    @RestControllerAdvice
    static class Advice {

        @ExceptionHandler(Exception.class)
        public ResponseEntity<String> any() {
            return ResponseEntity.internalServerError().body("any");
        }
    }
}
