package io.github.distributedpermit.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A server that counts the requests it works on at once. The path of a request is the status of its answer, whose body is as long as the
 * query says. Its work on a request ends before it sends any part of the answer.
 */
final class Partner implements AutoCloseable {

    private static final long WORK = TimeUnit.MILLISECONDS.toNanos(20);

    private final AtomicInteger now = new AtomicInteger();
    final AtomicInteger most = new AtomicInteger();
    final AtomicInteger requests = new AtomicInteger();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;

    Partner() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
        server.createContext("/", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        requests.incrementAndGet();
        most.accumulateAndGet(now.incrementAndGet(), Math::max);
        LockSupport.parkNanos(WORK);
        now.decrementAndGet();
        int length = Integer.parseInt(exchange.getRequestURI().getQuery());
        exchange.sendResponseHeaders(
                Integer.parseInt(exchange.getRequestURI().getPath().substring(1)), length == 0 ? -1 : length);
        try (exchange) {
            exchange.getResponseBody().write(new byte[length]);
        }
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
