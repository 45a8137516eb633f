package io.github.distributedpermit.http;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Limits how many requests of a {@code RestClient} or {@code RestTemplate} are under way at the same time, in all instances together.
 * A request waits for its permit on the calling thread, as the settings of the name say, and holds it until its answer is read to the
 * end or closed. Each attempt takes a permit of its own if a request is repeated around this interceptor, which is why it belongs at
 * the end of the list. Thread-safe.
 *
 * <pre>{@code
 * builder.requestInterceptor(new PermitRequestInterceptor(permits, "partner"))
 * }</pre>
 *
 * <p>A request without a permit is not sent: it throws {@link PermitRejectedException}, {@link PermitBackendException} or, when its thread
 * is interrupted, {@link PermitInterruptedException}. The time-outs of the client begin when it is sent.
 */
public final class PermitRequestInterceptor implements ClientHttpRequestInterceptor {

    private final Permits permits;
    private final String name;
    private final Function<? super HttpRequest, String> key;

    /**
     * One limit for all requests.
     *
     * @param name of the permits, also their key
     */
    public PermitRequestInterceptor(Permits permits, String name) {
        this(permits, name, request -> name);
    }

    /**
     * A limit for each key.
     *
     * @param name of the permits, whose settings give the limit
     * @param key of a request, such as {@code request -> "partner-" + request.getURI().getHost()}
     */
    public PermitRequestInterceptor(Permits permits, String name, Function<? super HttpRequest, String> key) {
        this.permits = permits;
        this.name = name;
        this.key = key;
    }

    @Override
    public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        CompletableFuture<Permit> taken = new CompletableFuture<>();
        RequestPermit permit = RequestPermit.of(taken); // before there is a permit that could be lost
        try {
            taken.complete(acquire(key.apply(request)));
            return new LimitedResponse(execution.execute(request, body), permit);
        } catch (IOException | RuntimeException | Error e) {
            permit.close();
            throw e;
        }
    }

    private Permit acquire(String requestKey) {
        NamedPermits named = permits.named(name);
        try {
            return named.acquire(named.request(requestKey));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PermitInterruptedException(String.valueOf(e.getMessage()), e);
        }
    }
}
