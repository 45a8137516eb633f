package io.github.distributedpermit.consulserver;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Stands before an agent, counts requests, and misbehaves on demand. */
public final class ConsulFront implements AutoCloseable {

    private static final String TOKEN = "X-Consul-Token";
    private static final long DRIP_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final AtomicReference<@Nullable Trouble> trouble = new AtomicReference<>();
    private final AtomicLong answered = new AtomicLong();
    private final HttpServer server;
    private final URI agent;

    /** What happens to requests that it strikes. */
    @FunctionalInterface
    private interface Deed {

        /** Whether the exchange has been dealt with; otherwise it goes on as usual. */
        boolean done(HttpExchange exchange, byte[] body) throws IOException, InterruptedException;
    }

    private record Trouble(Predicate<String> strikes, Deed deed) {}

    /** Listens on a free port. */
    public ConsulFront(URI agent) {
        this.agent = agent;
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", this::handle);
        server.setExecutor(threads);
        server.start();
    }

    /** Where it listens. */
    public URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /** "METHOD path" of all requests so far. */
    public List<String> requests() {
        return requests;
    }

    /** The bytes of all answers of the agent so far. */
    public long answered() {
        return answered.get();
    }

    /** From now on these requests are answered so. */
    public void answer(String path, int status, String body) {
        answer(request -> request.contains(path), status, body);
    }

    /** From now on these reads are answered so, with the index by which Consul's answers are recognised. */
    public void answerRead(String path, int status, String body) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        trouble.set(new Trouble(request -> request.contains(path), (exchange, unused) -> {
            exchange.getResponseHeaders().set("X-Consul-Index", "1");
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
            return true;
        }));
    }

    /** From now on requests of this method and path, and no others, are answered so. */
    public void answerOnly(String request, int status, String body) {
        answer(request::equals, status, body);
    }

    private void answer(Predicate<String> strikes, int status, String body) {
        answer(strikes, asked -> true, status, body);
    }

    private void answer(Predicate<String> strikes, Predicate<String> bodies, int status, String body) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        trouble.set(new Trouble(strikes, (exchange, asked) -> {
            if (!bodies.test(new String(asked, StandardCharsets.UTF_8))) {
                return false;
            }
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
            return true;
        }));
    }

    /** From now on transactions that only read, and need not be consistent, are answered so. */
    public void answerReads(String body) {
        answer("PUT /v1/txn"::equals, asked -> !asked.contains("check-index"), 200, body);
    }

    /** The next of these requests arrives only when the gate opens. */
    public void delayNext(String path, CountDownLatch arrived, CountDownLatch gate) {
        delayNext(path, "", arrived, gate);
    }

    /** The next of these requests whose body has this text arrives only when the gate opens. */
    public void delayNext(String path, String text, CountDownLatch arrived, CountDownLatch gate) {
        trouble.set(new Trouble(request -> request.contains(path), (exchange, body) -> {
            if (!new String(body, StandardCharsets.UTF_8).contains(text)) {
                return false;
            }
            trouble.set(null);
            arrived.countDown();
            try {
                gate.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return false;
        }));
    }

    /**
     * From now on some of these requests never arrive, and some are done but their answers get lost: both are answered
     * with 500, so that a client cannot distinguish the two.
     */
    public void loseSome(String path, Random random, double share) {
        trouble.set(new Trouble(request -> request.contains(path), (exchange, body) -> {
            double dice = next(random);
            if (dice >= share) {
                return false;
            }
            if (dice < share / 2) {
                send(exchange, body);
            }
            exchange.sendResponseHeaders(500, -1);
            exchange.close();
            return true;
        }));
    }

    /** The next of these requests whose body has this text is done, but its answer gets lost. */
    public void loseNextAnswer(String path, String text) {
        trouble.set(new Trouble(request -> request.contains(path), (exchange, body) -> {
            if (!new String(body, StandardCharsets.UTF_8).contains(text)) {
                return false;
            }
            trouble.set(null);
            send(exchange, body);
            exchange.sendResponseHeaders(500, -1);
            exchange.close();
            return true;
        }));
    }

    /** From now on these requests arrive only when the gate opens. */
    public void hold(String path, CountDownLatch gate) {
        trouble.set(new Trouble(request -> request.contains(path), (exchange, unused) -> {
            gate.await();
            return false;
        }));
    }

    /**
     * From now on these requests are answered byte by byte, without an end.
     *
     * @return opens when a client has hung up
     */
    public CountDownLatch drip(String path) {
        CountDownLatch hungUp = new CountDownLatch(1);
        trouble.set(new Trouble(request -> request.contains(path), (exchange, unused) -> {
            exchange.sendResponseHeaders(200, Integer.MAX_VALUE);
            try {
                while (!Thread.currentThread().isInterrupted()) {
                    exchange.getResponseBody().write(' ');
                    exchange.getResponseBody().flush();
                    LockSupport.parkNanos(DRIP_NANOS);
                }
            } catch (IOException e) {
                hungUp.countDown();
            }
            return true;
        }));
        return hungUp;
    }

    private static double next(Random random) {
        synchronized (random) {
            return random.nextDouble();
        }
    }

    /** All is well again. */
    public void behave() {
        trouble.set(null);
    }

    private void handle(HttpExchange exchange) throws IOException {
        URI asked = exchange.getRequestURI();
        String request = exchange.getRequestMethod() + " " + asked;
        requests.add(request);
        byte[] body = exchange.getRequestBody().readAllBytes();
        Trouble now = trouble.get();
        try {
            if (now == null || !now.strikes().test(request) || !now.deed().done(exchange, body)) {
                forward(exchange, body);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            exchange.close();
        }
    }

    private URI target(HttpExchange exchange) {
        return URI.create(agent + exchange.getRequestURI().toString());
    }

    private HttpResponse<byte[]> send(HttpExchange exchange, byte[] body) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(target(exchange))
                .method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(body));
        String token = exchange.getRequestHeaders().getFirst(TOKEN);
        if (token != null) {
            request.header(TOKEN, token);
        }
        return client.send(request.build(), BodyHandlers.ofByteArray());
    }

    private void forward(HttpExchange exchange, byte[] body) throws IOException, InterruptedException {
        HttpResponse<byte[]> response = send(exchange, body);
        response.headers()
                .firstValue("X-Consul-Index")
                .ifPresent(index -> exchange.getResponseHeaders().set("X-Consul-Index", index));
        int length = response.body().length;
        answered.addAndGet(length);
        exchange.sendResponseHeaders(response.statusCode(), length == 0 ? -1 : length);
        exchange.getResponseBody().write(response.body());
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
