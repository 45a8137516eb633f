package io.github.distributedpermit.ui;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.http.server.HttpServerResponse;
import reactor.util.context.ContextView;

/**
 * Lets the streams of a request see whether its connection takes more data, which the operation of an endpoint is not given.
 * Only Netty needs it: other servers request a further event when the last one is written. Thread-safe.
 */
final class ConnectionState implements WebFilter {

    private static final Class<?> KEY = ConnectionState.class;

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        return chain.filter(exchange).contextWrite(context -> context.put(KEY, exchange.getResponse()));
    }

    /** For the subscriber with this context. */
    static BooleanSupplier takesMore(ContextView context) {
        ServerHttpResponse response =
                context.<ServerHttpResponse>getOrEmpty(KEY).orElse(null);
        if (response == null) {
            return () -> true;
        }
        Object server = ServerHttpResponseDecorator.getNativeResponse(response);
        if (!(server instanceof HttpServerResponse netty)) {
            return () -> true;
        }
        AtomicReference<@Nullable Connection> connection = new AtomicReference<>();
        netty.withConnection(connection::set);
        return () -> {
            Connection to = connection.get();
            return to == null || to.channel().isWritable();
        };
    }
}
