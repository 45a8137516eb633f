package io.github.distributedpermit.web;

import java.util.List;
import java.util.Objects;
import org.springframework.core.Ordered;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.view.ViewResolver;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/**
 * Answers a request that a {@code WebFilter} could not get a permit for, with which WebFlux asks no advice. Is asked before Spring
 * Boot's handler, and after a {@code WebExceptionHandler} of the application with an order below -2. Thread-safe.
 */
public final class WebFluxProblems implements WebExceptionHandler, Ordered {

    /** Before Spring Boot's, which has the order -1. */
    private static final int ORDER = -2;

    private final PermitProblems problems;
    private final ServerResponse.Context context;

    /** Writes with these codecs. */
    public WebFluxProblems(PermitProblems problems, ServerCodecConfigurer codecs) {
        this.problems = problems;
        this.context = new ServerResponse.Context() {

            @Override
            public List<HttpMessageWriter<?>> messageWriters() {
                return codecs.getWriters();
            }

            @Override
            public List<ViewResolver> viewResolvers() {
                return List.of();
            }
        };
    }

    @Override
    public int getOrder() {
        return ORDER;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable thrown) {
        return !PermitProblems.areFor(thrown) || exchange.getResponse().isCommitted()
                ? Mono.error(thrown)
                : answer(exchange, (RuntimeException) thrown);
    }

    private Mono<Void> answer(ServerWebExchange exchange, RuntimeException ours) {
        var answer = problems.answer(ours);
        return ServerResponse.status(answer.getStatusCode())
                .headers(headers -> headers.putAll(answer.getHeaders()))
                .bodyValue(Objects.requireNonNull(answer.getBody()))
                .flatMap(response -> response.writeTo(exchange, context));
    }
}
