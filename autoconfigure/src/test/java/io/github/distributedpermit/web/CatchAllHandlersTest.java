package io.github.distributedpermit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import reactor.core.publisher.Mono;

/** An application that handles every exception itself still gets the library's answers if it gives them an order. */
class CatchAllHandlersTest {

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void handlerForAllExceptionsWinsUnlessTheAnswersHaveAnOrder(WebApplicationType type) throws Exception {
        assertThat(status(type, CatchAll.class)).isEqualTo(500);
        assertThat(status(type, CatchAllAndOrderedAnswers.class)).isEqualTo(429);
    }

    private static int status(WebApplicationType type, Class<?> application) throws Exception {
        try (WebServer server = new WebServer(type, application)) {
            server.start();
            try (Permit taken = server.acquire("web")) {
                assertThat(taken.isHeld()).isTrue();
                return server.get("/limited").get(20, TimeUnit.SECONDS).statusCode();
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

    @RestController
    static class Controller {

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
