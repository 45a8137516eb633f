package io.github.distributedpermit.sample.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.embedded.RedisServer;

class EmbeddedRedisTest extends SharedServerLaws {

    EmbeddedRedisTest() {
        super(new RedisKind());
    }

    @Override
    void crash(ServerDirectory directory) throws IOException {
        ask("SHUTDOWN NOSAVE");
    }

    @Override
    void cutConnection() throws IOException {
        assertThat(ask("CLIENT KILL TYPE normal SKIPME yes")).isEqualTo(":1");
    }

    @Test
    void redisOfAnotherOwnerIsNotUsed(@TempDir Path directory) throws IOException {
        RedisServer other = RedisServer.newRedisServer()
                .port(port)
                .bind(ServerKind.HOST)
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

    private String ask(String command) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(ServerKind.address(port));
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            StringBuilder answer = new StringBuilder();
            for (int c = in.read(); c >= 0 && c != '\r'; c = in.read()) {
                answer.append((char) c);
            }
            return answer.toString();
        }
    }
}
