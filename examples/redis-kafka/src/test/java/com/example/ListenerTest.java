package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import java.net.ServerSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;
import redis.embedded.RedisServer;

/** Messages wait while others hold all permits. */
class ListenerTest {

    private static RedisServer redis;
    private static EmbeddedKafkaKraftBroker kafka;
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
        kafka = new EmbeddedKafkaKraftBroker(1, 1, "reports");
        kafka.afterPropertiesSet();
    }

    @AfterAll
    static void stop() throws Exception {
        kafka.destroy();
        redis.stop();
    }

    @Test
    void messageWaitsForItsPermit() throws Exception {
        try (ConfigurableApplicationContext instance = SpringApplication.run(
                Application.class,
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + port,
                "--spring.kafka.bootstrap-servers=" + kafka.getBrokersAsString())) {
            Permits permits = instance.getBean(Permits.class);
            Application.Reports reports = instance.getBean(Application.Reports.class);
            try (Permit first = permits.acquire("export");
                    Permit second = permits.acquire("export")) {
                send(instance, "report-42");
                while (permits.state("export").waiting() == 0) {
                    Thread.onSpinWait();
                }
                assertThat(reports.exported()).isEmpty();
                assertThat(first.isHeld() && second.isHeld()).isTrue();
            }
            while (reports.exported().isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(reports.exported()).containsExactly("report-42");
        }
    }

    @SuppressWarnings("unchecked")
    private static void send(ConfigurableApplicationContext instance, String report) {
        instance.getBean(KafkaTemplate.class).send("reports", report);
    }
}
