package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.PermitStoreException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to one agent. Consul takes 200 connections from a client address, which all instances on a host or behind a
 * gateway may share, so that at most 16 requests are under way at a time; further ones wait. Those that keep the session alive
 * do not wait behind claims. Confined to the event loop, on which all stages end, but for {@link #close}.
 *
 * <p>A failed stage leaves open whether the request was executed, unless it fails with a {@link PermitStoreException}: then
 * nothing was sent.
 */
final class ConsulHttp {

    /** Requests of claims that are under way at a time. */
    private static final int CLAIMS = 10;
    /** Requests for sessions that are under way at a time. With these and the blocking query there are 16. */
    private static final int SESSIONS = 5;
    /** In bytes; larger than the tree of a key with 1000 permits and many waiting members. */
    private static final int MAX_BODY = 4 << 20;

    /** An idle connection is not much older. The usual firewalls keep idle connections for minutes. */
    private static final Duration LONGEST_USE = Duration.ofSeconds(30);

    /** So long after its time-out a reply ends in any case. */
    private static final long SPARE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Connections claims;
    /** Apart from the others: while Consul takes no further connections from this address, a session keeps the one it has. */
    private final Connections sessions;
    /** Apart from the others, whose connections are closed when the last request has ended. */
    private final Connections watches;

    /**
     * Blocking queries under way. To be cancelled by {@link #close}; at most one in normal operation.
     */
    private final Set<CompletableFuture<?>> queries = ConcurrentHashMap.newKeySet();

    private final ConsulSettings settings;
    private final EventLoop loop;
    /** With a slash at the end. */
    private final String base;
    /** Set by any thread; read on the loop. */
    private volatile boolean closed;

    private final RequestLimiter claimsInFlight = new RequestLimiter(CLAIMS);
    private final RequestLimiter sessionsInFlight = new RequestLimiter(SESSIONS);

    ConsulHttp(Supplier<HttpClient> clients, ConsulSettings settings, EventLoop loop) {
        this.claims = new Connections(clients, loop::now, LONGEST_USE);
        this.sessions = new Connections(clients, loop::now, LONGEST_USE);
        this.watches = new Connections(clients, loop::now, ChronoUnit.FOREVER.getDuration());
        this.settings = settings;
        this.loop = loop;
        this.base = settings.address().toString().replaceAll("/+$", "") + "/v1/";
    }

    /**
     * Sends a request of a claim when its turn comes; the time-out runs from then on.
     *
     * @param path behind {@code /v1/}
     */
    CompletableFuture<Reply> put(String path, String body) {
        return put(path, body, () -> {});
    }

    /** @param sending runs immediately before the request is sent */
    CompletableFuture<Reply> put(String path, String body, Runnable sending) {
        return claimsInFlight.enter(() -> {
            sending.run();
            return send(claims, path, body);
        });
    }

    /** The same for a request that keeps the session alive, which waits for no claim. */
    CompletableFuture<Reply> putNow(String path, String body) {
        return sessionsInFlight.enter(() -> send(sessions, path, body));
    }

    private CompletableFuture<Reply> send(Connections connections, String path, String body) {
        return send(
                connections, request -> request.PUT(BodyPublishers.ofString(body)), path, settings.requestTimeout());
    }

    /** A blocking query; sends at once, and gives the answer that much time. */
    CompletableFuture<Reply> watch(String path, Duration timeout) {
        return send(watches, HttpRequest.Builder::GET, path, timeout);
    }

    /**
     * Closes the connections; requests in flight other than blocking queries may end. A query is cancelled one by one: the
     * JDK's client, when it is closed before Java 21, forgets the connections in use without closing them, and Consul would keep
     * such a one until the query's time is over. Any thread.
     */
    void close() {
        closed = true;
        claims.close();
        sessions.close();
        watches.close();
        queries.forEach(query -> query.cancel(true));
    }

    /** The monotonic clock of the loop, in nanoseconds. */
    long now() {
        return loop.now();
    }

    /** Builds a request with the token. What fails here has not been sent. */
    private CompletableFuture<Reply> send(
            Connections connections, UnaryOperator<HttpRequest.Builder> method, String path, Duration timeout) {
        try {
            HttpRequest.Builder request = method.apply(HttpRequest.newBuilder(URI.create(base + path)));
            settings.currentToken().ifPresent(token -> request.header("X-Consul-Token", token));
            return send(connections, request.build(), timeout);
        } catch (RuntimeException e) {
            // nothing was sent; and what it says may quote the token
            return CompletableFuture.failedFuture(PermitStoreException.permanent(
                    "No request can be sent to Consul (" + e.getClass().getSimpleName()
                            + "); check the address and the ACL token",
                    null));
        } catch (Error e) {
            // such as a full stack in the middle of the JDK's client: whether anything was sent is unknown
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * The answer is taken from the body as it ends, on the thread that reads it, and handed to the loop. What the JDK's client returns
     * is completed by the common pool instead: an application may block all of that pool's threads with calls that wait for a permit,
     * and then no answer would arrive that could end their wait. Only failures without an answer come from there, or are overtaken by
     * the time-out. The time-out is over the whole exchange: the client's own ends with the headers, whatever becomes of the body.
     */
    private CompletableFuture<Reply> send(Connections connections, HttpRequest request, Duration timeout) {
        long nanos = TimeUnit.NANOSECONDS.convert(timeout);
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        // Runs on the loop when there is an answer.
        Runnable handOver = () -> answer.whenComplete((received, failure) -> complete(reply, received, failure));
        // An Error, such as a full heap, may keep the answer from the loop: nothing else would end the reply then.
        Future<?> atLast = loop.later(
                () -> {
                    answer.completeExceptionally(new TimeoutException());
                    handOver.run();
                },
                nanos + SPARE_NANOS);
        reply.whenComplete((received, failure) -> atLast.cancel(false));
        Connections.Pool pool;
        try {
            pool = connections.pool();
        } catch (RuntimeException | Error e) { // such as too many open files or threads
            return CompletableFuture.failedFuture(PermitStoreException.passing("No HTTP client can be made: " + e, e));
        }
        CompletableFuture<HttpResponse<String>> exchange;
        try {
            exchange = pool.http().sendAsync(request, info -> body(info, answer));
        } catch (RuntimeException | Error e) {
            pool.ended(false);
            throw e;
        }
        // Added before the flag is read: close() either finds the query in the set, or this thread finds the flag.
        if (connections == watches) {
            queries.add(exchange);
            if (closed) { // meanwhile, by another thread that may not have seen this query
                exchange.cancel(true);
            }
        }
        exchange.whenComplete((response, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(isUnsent(failure) ? unreachable(failure) : failure);
            }
        });
        answer.whenComplete((received, failure) -> {
            boolean late = failure instanceof TimeoutException;
            // Before the reply, so that the next request does not use the connections of this one after a time-out.
            // The reply ends whatever these throw: a caller waits for it without a time-out of its own.
            EventLoop.run(() -> {
                queries.remove(exchange);
                if (late) {
                    exchange.cancel(true); // closes the connection
                }
            });
            EventLoop.run(() -> pool.ended(late));
            loop.execute(handOver);
        });
        answer.orTimeout(nanos, TimeUnit.NANOSECONDS); // also when the loop has ended
        return reply;
    }

    /** Without a connection nothing was sent. Any other failure leaves open whether the request has arrived. */
    private static boolean isUnsent(Throwable failure) {
        Throwable cause = PermitStoreException.causeOf(failure);
        return cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException;
    }

    private PermitStoreException unreachable(Throwable failure) {
        Throwable cause = PermitStoreException.causeOf(failure);
        String reason = cause.getMessage() == null ? "" : ": " + cause.getMessage();
        return PermitStoreException.passing(
                "Consul cannot be reached at %s (%s%s)"
                        .formatted(settings.address(), cause.getClass().getSimpleName(), reason),
                cause);
    }

    /** Also called for replies with an error status, whose text is part of the message. */
    private static BodySubscriber<String> body(ResponseInfo info, CompletableFuture<Reply> answer) {
        BodySubscriber<String> body = new BoundedBody(MAX_BODY);
        body.getBody().whenComplete((text, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else {
                answer.complete(reply(info, text));
            }
        });
        return body;
    }

    /**
     * Runs on the loop, so that all that follows from the reply runs there too. The time-out is that of this class; callers see the
     * client's own exception, so that there is one kind of time-out.
     */
    private static void complete(
            CompletableFuture<Reply> reply, @Nullable Reply received, @Nullable Throwable failure) {
        if (failure == null) {
            reply.complete(received);
        } else {
            reply.completeExceptionally(
                    failure instanceof TimeoutException ? new HttpTimeoutException("request timed out") : failure);
        }
    }

    /** A reply without an index, such as that of a write or of a proxy, has index 0. */
    private static Reply reply(ResponseInfo response, String body) {
        long index = response.headers()
                .firstValue("X-Consul-Index")
                .map(ConsulHttp::index)
                .orElse(0L);
        return new Reply(response.statusCode(), index, body);
    }

    /** A proxy may have put anything there. */
    private static long index(String header) {
        try {
            return Long.parseLong(header);
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
