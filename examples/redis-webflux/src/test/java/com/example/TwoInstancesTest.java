package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import redis.embedded.RedisServer;

/** Two instances of the application share one limit through a real server. */
class TwoInstancesTest {

    private final HttpClient http = HttpClient.newHttpClient();

    private static RedisServer redis;
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
    }

    @AfterAll
    static void stop() throws Exception {
        redis.stop();
    }

    @Test
    void requestIsRejectedWhileTheOtherInstanceHoldsAllPermits() throws Exception {
        try (ConfigurableApplicationContext one = instance();
                ConfigurableApplicationContext other = instance()) {
            Permits permits = one.getBean(Permits.class);
            try (Permit first = permits.acquire("export");
                    Permit second = permits.acquire("export")) {
                HttpResponse<String> rejected = export(other);
                assertThat(rejected.statusCode()).isEqualTo(429);
                assertThat(rejected.headers().firstValue("Retry-After")).isPresent();
                assertThat(first.isHeld() && second.isHeld()).isTrue();
            }
            // a return travels behind the end of the call; a call that may wait comes after it
            other.getBean(Permits.class).acquire("export").release();
            HttpResponse<String> answer = export(one);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("exported");
        }
    }

    private static ConfigurableApplicationContext instance() {
        return new SpringApplicationBuilder(Application.class)
                .run(
                        "--server.port=0",
                        "--server.address=127.0.0.1",
                        "--spring.data.redis.host=127.0.0.1",
                        "--spring.data.redis.port=" + port);
    }

    private HttpResponse<String> export(ConfigurableApplicationContext instance) throws Exception {
        String port = instance.getEnvironment().getRequiredProperty("local.server.port");
        return http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/export")).build(),
                HttpResponse.BodyHandlers.ofString());
    }
}
