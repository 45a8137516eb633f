package io.github.distributedpermit.http;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import reactor.core.publisher.Mono;

/**
 * Limits how many requests of a {@code WebClient} are under way at the same time, in all instances together. A request waits for its
 * permit without a thread, as the settings of the name say, and holds it until the body of its answer has ended, failed or been
 * cancelled. A cancelled request leaves the queue. Each attempt takes a permit of its own if a request is repeated. Thread-safe.
 *
 * <pre>{@code
 * builder.filter(new PermitExchangeFilter(permits, "partner"))
 * }</pre>
 *
 * <p>A request without a permit is not sent: it ends with {@link PermitRejectedException} or {@link PermitBackendException}. The
 * time-outs of the client begin when it is sent; {@code Mono.timeout} counts the wait too.
 */
public final class PermitExchangeFilter implements ExchangeFilterFunction {

    private final Permits permits;
    private final String name;
    private final Function<? super ClientRequest, String> key;

    /**
     * One limit for all requests.
     *
     * @param name of the permits, also their key
     */
    public PermitExchangeFilter(Permits permits, String name) {
        this(permits, name, request -> name);
    }

    /**
     * A limit for each key.
     *
     * @param name of the permits, whose settings give the limit
     * @param key of a request, such as {@code request -> "partner-" + request.url().getHost()}
     */
    public PermitExchangeFilter(Permits permits, String name, Function<? super ClientRequest, String> key) {
        this.permits = permits;
        this.name = name;
        this.key = key;
    }

    @Override
    public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
        return Mono.defer(() -> {
            NamedPermits named = permits.named(name);
            CompletableFuture<Permit> asked = named.acquireAsync(named.request(key.apply(request)));
            RequestPermit permit = RequestPermit.of(asked);
            AtomicBoolean bodyBegun = new AtomicBoolean();
            return Mono.fromFuture(asked)
                    // of a subscriber that has gone, which Reactor would log as an error
                    .onErrorResume(CancellationException.class, gone -> Mono.never())
                    .flatMap(taken -> next.exchange(request))
                    .map(response -> response.mutate()
                            .body(body -> body.doOnSubscribe(begun -> bodyBegun.set(true))
                                    .doOnTerminate(permit::close) // first, so that whoever sees the end may ask again
                                    .doOnCancel(permit::close))
                            .build())
                    .switchIfEmpty(Mono.fromRunnable(permit::close))
                    .doOnError(failure -> permit.close())
                    .doOnCancel(() -> {
                        if (!bodyBegun.get()) { // otherwise the body has its own end
                            permit.close();
                        }
                    });
        });
    }
}
