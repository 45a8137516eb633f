package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.ports.FreePorts;
import io.github.distributedpermit.spi.PermitStoreException;
import java.io.IOException;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An Error of the JDK's HTTP client, or in what follows from an answer, ends one request and no other. */
class HttpClientErrorsTest {

    /** More than may be under way at a time. */
    private static final int MANY = 70;

    /** As many may be. */
    private static final int AT_A_TIME = 10;

    private static final Duration SOON = Duration.ofSeconds(30);

    private final ConsulFront front = new ConsulFront(SharedConsul.get().address());
    private final Bench bench = new Bench(front.address(), SharedConsul.get().probe());
    private final FullLoop loop = new FullLoop();
    private final CountDownLatch gate = new CountDownLatch(1);
    private volatile boolean sendingFails;

    @AfterEach
    void leave() {
        gate.countDown();
        loop.end();
        bench.close();
        front.close();
    }

    private ConsulHttp http(Duration timeout) {
        return new ConsulHttp(
                () -> new BrokenClient(HttpClient.newHttpClient()), bench.settings(ConsulLayout.SLOTS, timeout), loop);
    }

    private CompletableFuture<Reply> put(ConsulHttp http) {
        CompletableFuture<Reply> result = new CompletableFuture<>();
        loop.execute(() -> http.put("txn", "[]").whenComplete((reply, failure) -> {
            if (failure != null) {
                result.completeExceptionally(failure);
            } else {
                result.complete(reply);
            }
        }));
        return result;
    }

    private static Throwable failure(CompletableFuture<Reply> request) {
        return PermitStoreException.causeOf(
                request.handle((reply, failure) -> failure).join());
    }

    /** A PermitStoreException would say that nothing was sent, which is not certain. */
    @Test
    void requestThatTheClientBreaksOffFailsWithUnknownOutcomeAndLeavesRoomForOthers() {
        ConsulHttp http = http(Bench.REQUEST_TIMEOUT);
        sendingFails = true;
        List<CompletableFuture<Reply>> broken =
                IntStream.range(0, MANY).mapToObj(i -> put(http)).toList();

        await().atMost(SOON).until(() -> broken.stream().allMatch(CompletableFuture::isDone));
        assertThat(broken).allSatisfy(request -> assertThat(failure(request)).isInstanceOf(StackOverflowError.class));

        sendingFails = false;
        assertThat(put(http)).succeedsWithin(SOON);
        http.close();
    }

    @Test
    void requestTimesOutAlthoughItsConnectionCannotBeClosed() {
        ConsulHttp http = http(Duration.ofSeconds(1));
        front.hold("/v1/txn", gate);

        CompletableFuture<Reply> request = put(http);

        await().atMost(SOON).until(request::isDone);
        assertThat(failure(request)).isInstanceOf(HttpTimeoutException.class);
        gate.countDown();
        front.behave();
        assertThat(put(http)).succeedsWithin(SOON);
        http.close();
    }

    /** Any other failure would leave open whether a transaction was executed. */
    @Test
    void requestThatGotNoConnectionWasNotSent() {
        URI nowhere = URI.create("http://127.0.0.1:" + FreePorts.some(1).get(0));
        ConsulHttp http = new ConsulHttp(
                HttpClient::newHttpClient, bench.settings(nowhere, ConsulLayout.SLOTS, Bench.REQUEST_TIMEOUT), loop);

        Throwable failure = failure(put(http));

        assertThat(failure).isInstanceOf(PermitStoreException.class).hasMessageContaining(nowhere.toString());
        assertThat(((PermitStoreException) failure).isPermanent()).isFalse();
        http.close();
    }

    /** A reply that never ended would keep its place in the limiter, and what waits for it has no other way. */
    @Test
    void requestEndsAlthoughItsAnswerCouldNotBeHandedToTheLoop() {
        ConsulHttp http = http(Duration.ofSeconds(5));
        loop.refused.set(AT_A_TIME);

        List<CompletableFuture<Reply>> requests =
                IntStream.range(0, MANY).mapToObj(i -> put(http)).toList();

        await().atMost(SOON).until(() -> requests.stream().allMatch(CompletableFuture::isDone));
        assertThat(requests).noneMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(loop.refused).hasValue(0);
        http.close();
    }

    /** A loop whose queue can't grow when another thread than the test's hands it a task. */
    private static final class FullLoop extends EventLoop {

        private final Thread test = Thread.currentThread();
        private final AtomicInteger refused = new AtomicInteger();

        FullLoop() {
            super("http-client-errors", System::nanoTime);
        }

        @Override
        public void execute(Runnable task) {
            if (Thread.currentThread() != test && refused.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new OutOfMemoryError("made by the test");
            }
            super.execute(task);
        }
    }

    /** A real client whose exchanges cannot be cancelled, and that breaks off when the test says so. */
    private final class BrokenClient extends HttpClient {

        private final HttpClient real;

        BrokenClient(HttpClient real) {
            this.real = real;
        }

        @Override
        public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
            if (sendingFails) {
                throw new StackOverflowError("made by the test");
            }
            CompletableFuture<HttpResponse<T>> exchange = new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterruptIfRunning) {
                    throw new StackOverflowError("made by the test");
                }
            };
            real.sendAsync(request, handler).whenComplete((response, failure) -> {
                if (failure != null) {
                    exchange.completeExceptionally(failure);
                } else {
                    exchange.complete(response);
                }
            });
            return exchange;
        }

        @Override
        public <T> CompletableFuture<HttpResponse<T>> sendAsync(
                HttpRequest request, BodyHandler<T> handler, PushPromiseHandler<T> pushes) {
            return real.sendAsync(request, handler, pushes);
        }

        @Override
        public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler)
                throws IOException, InterruptedException {
            return real.send(request, handler);
        }

        @Override
        public Optional<CookieHandler> cookieHandler() {
            return real.cookieHandler();
        }

        @Override
        public Optional<Duration> connectTimeout() {
            return real.connectTimeout();
        }

        @Override
        public Redirect followRedirects() {
            return real.followRedirects();
        }

        @Override
        public Optional<ProxySelector> proxy() {
            return real.proxy();
        }

        @Override
        public SSLContext sslContext() {
            return real.sslContext();
        }

        @Override
        public SSLParameters sslParameters() {
            return real.sslParameters();
        }

        @Override
        public Optional<Authenticator> authenticator() {
            return real.authenticator();
        }

        @Override
        public Version version() {
            return real.version();
        }

        @Override
        public Optional<Executor> executor() {
            return real.executor();
        }
    }
}
