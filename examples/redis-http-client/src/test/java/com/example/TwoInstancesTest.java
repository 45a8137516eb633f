package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import redis.embedded.RedisServer;

/** Two instances of the application send their requests to one partner. */
class TwoInstancesTest {

    private static final int REQUESTS = 100;

    private static final AtomicInteger now = new AtomicInteger();
    private static final AtomicInteger most = new AtomicInteger();
    private static final ExecutorService threads = Executors.newCachedThreadPool();
    private static RedisServer redis;
    private static HttpServer partner;
    private static int port;

    @BeforeAll
    static void start() throws Exception {
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        redis = RedisServer.newRedisServer()
                .port(port)
                .bind("127.0.0.1")
                .setting("save \"\"")
                .build();
        redis.start();
        partner = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        partner.createContext("/", exchange -> {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            LockSupport.parkNanos(5_000_000);
            now.decrementAndGet();
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("42".getBytes());
            exchange.close();
        });
        partner.setExecutor(threads);
        partner.start();
    }

    @AfterAll
    static void stop() throws Exception {
        partner.stop(0);
        threads.shutdownNow();
        redis.stop();
    }

    @Test
    void partnerNeverGetsMoreRequestsAtOnceThanTheLimit() throws Exception {
        try (ConfigurableApplicationContext one = instance();
                ConfigurableApplicationContext other = instance()) {
            List<Future<String>> prices = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                Application.Partner client = (i % 2 == 0 ? one : other).getBean(Application.Partner.class);
                prices.add(threads.submit(() -> client.price("milk")));
            }
            for (Future<String> price : prices) {
                assertThat(price.get()).isEqualTo("42");
            }
            assertThat(most.get()).isBetween(2, 3);
        }
    }

    private static ConfigurableApplicationContext instance() {
        return new SpringApplicationBuilder(Application.class)
                .run(
                        "--spring.data.redis.host=127.0.0.1",
                        "--spring.data.redis.port=" + port,
                        "--spring.http.serviceclient.partner.base-url=http://127.0.0.1:"
                                + partner.getAddress().getPort());
    }
}
