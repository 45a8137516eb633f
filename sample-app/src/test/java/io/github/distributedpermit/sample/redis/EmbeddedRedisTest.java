package io.github.distributedpermit.sample.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.ports.FreePorts;
import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.embedded.RedisServer;

class EmbeddedRedisTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private final int port = FreePorts.some(1).get(0);
    private final List<EmbeddedRedis> instances = new ArrayList<>();

    @AfterEach
    void serverEndsWithTheLastInstance() throws IOException {
        List<ServerDirectory> directories =
                instances.stream().map(EmbeddedRedis::directory).toList();
        for (EmbeddedRedis instance : instances) {
            instance.close();
        }
        for (ServerDirectory directory : directories) {
            await().atMost(LONG)
                    .untilAsserted(() -> assertThat(directory.path()).doesNotExist());
        }
        await().atMost(LONG).until(() -> Membership.join(port).isEmpty());
    }

    @Test
    void secondInstanceJoinsTheServerOfTheFirst() {
        EmbeddedRedis first = instance();
        EmbeddedRedis second = instance();

        assertThat(second.directory()).isEqualTo(first.directory());
        assertThat(first.directory().log()).isRegularFile();
    }

    @Test
    void serverOutlivesTheInstanceThatStartedIt() throws IOException {
        EmbeddedRedis first = instance();
        EmbeddedRedis second = instance();
        first.close();

        assertThat(ask("PING")).isEqualTo("+PONG");
        assertThat(instance().directory()).isEqualTo(second.directory());
    }

    @Test
    void instancesThatStartTogetherShareOneServer() {
        List<CompletableFuture<EmbeddedRedis>> starting = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            starting.add(CompletableFuture.supplyAsync(() -> new EmbeddedRedis(port)));
        }
        starting.forEach(instance -> instances.add(instance.join()));

        assertThat(instances)
                .extracting(EmbeddedRedis::directory)
                .containsOnly(instances.get(0).directory());
    }

    @Test
    void serverThatNobodyHoldsAnyMoreEndsAtOnce() throws IOException {
        StartedServer started = StartedServer.start(port);
        started.close();

        await().atMost(LONG)
                .untilAsserted(() -> assertThat(started.directory().path()).doesNotExist());
    }

    @Test
    void instancesThatAreLeftStartADeadServerAgain() throws IOException {
        EmbeddedRedis first = instance();
        EmbeddedRedis second = instance();
        ServerDirectory dead = first.directory();
        ask("SHUTDOWN NOSAVE");

        await().atMost(LONG).untilAsserted(() -> {
            assertThat(first.directory()).isNotEqualTo(dead).isEqualTo(second.directory());
            assertThat(dead.path()).doesNotExist();
        });
        assertThat(ask("PING")).isEqualTo("+PONG");
    }

    @Test
    void cutConnectionLeadsBackToTheSameServer() throws IOException {
        EmbeddedRedis instance = instance();
        ServerDirectory directory = instance.directory();
        assertThat(ask("CLIENT KILL TYPE normal SKIPME yes")).isEqualTo(":1");

        await().atMost(LONG)
                .until(() -> ask("CLIENT KILL TYPE normal SKIPME yes").equals(":1"));
        assertThat(instance.directory()).isEqualTo(directory);
    }

    @Test
    void foreignServiceOnThePortIsNamed() throws IOException {
        try (ServerSocket service = new ServerSocket()) {
            service.bind(RedisLink.address(port));
            CompletableFuture<Void> answer = CompletableFuture.runAsync(() -> answerAsWebServer(service));

            assertThatThrownBy(this::instance)
                    .isInstanceOf(PortTakenException.class)
                    .hasMessageContaining("" + port)
                    .hasMessageContaining("not a Redis server");
            answer.join();
        }
    }

    @Test
    void redisOfSomebodyElseIsNotUsed(@TempDir Path directory) throws IOException {
        RedisServer other = RedisServer.newRedisServer()
                .port(port)
                .bind(RedisLink.HOST)
                .setting("dir " + Files.createDirectory(directory.resolve("theirs")))
                .setting("save \"\"")
                .build();
        other.start();
        try {
            assertThatThrownBy(this::instance)
                    .isInstanceOf(PortTakenException.class)
                    .hasMessageContaining("another Redis server")
                    .hasMessageContaining("theirs");
        } finally {
            other.stop();
        }
    }

    @Test
    void takenPortIsExplainedWithTheSettingsThatHelp() {
        PortTakenException taken = new PortTakenException(6379, Optional.empty());

        assertThat(new PortTakenFailureAnalyzer().analyze(taken))
                .satisfies(analysis -> assertThat(analysis.getAction())
                        .contains("--sample.embedded-redis.port", "--spring.data.redis.host"));
    }

    private EmbeddedRedis instance() {
        EmbeddedRedis instance = new EmbeddedRedis(port);
        instances.add(instance);
        return instance;
    }

    private String ask(String command) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(RedisLink.address(port));
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            StringBuilder answer = new StringBuilder();
            for (int c = in.read(); c >= 0 && c != '\r'; c = in.read()) {
                answer.append((char) c);
            }
            return answer.toString();
        }
    }

    private static void answerAsWebServer(ServerSocket service) {
        try (Socket client = service.accept()) {
            client.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
