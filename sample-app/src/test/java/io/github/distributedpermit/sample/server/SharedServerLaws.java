package io.github.distributedpermit.sample.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.ports.FreePorts;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What holds for each server that the instances of the sample share. */
abstract class SharedServerLaws {

    static final Duration LONG = Duration.ofSeconds(60);

    private final ServerKind kind;
    private final List<SharedServer> instances = new ArrayList<>();

    final int port = FreePorts.some(1).get(0);
    final AtomicInteger rejoins = new AtomicInteger();

    SharedServerLaws(ServerKind kind) {
        this.kind = kind;
    }

    /** Ends the server without regard to those that use it. */
    abstract void crash(ServerDirectory directory) throws IOException;

    /** Ends the connections of all instances, of which there is one. */
    abstract void cutConnection() throws IOException;

    @AfterEach
    void serverEndsWithTheLastInstance() throws IOException {
        List<ServerDirectory> directories =
                instances.stream().map(SharedServer::directory).toList();
        for (SharedServer instance : instances) {
            instance.close();
        }
        for (ServerDirectory directory : directories) {
            await().atMost(LONG)
                    .untilAsserted(() -> assertThat(directory.path()).doesNotExist());
        }
        await().atMost(LONG).until(() -> {
            Optional<Membership> joined = join();
            if (joined.isPresent()) {
                joined.get().close(); // a member that stayed would keep the server for ever
            }
            return joined.isEmpty();
        });
    }

    @Test
    void serverOutlivesTheInstanceThatStartedIt() throws IOException {
        SharedServer first = instance();
        SharedServer second = instance();
        assertThat(second.directory()).isEqualTo(first.directory());
        assertThat(first.directory().log()).isRegularFile();
        first.close();

        assertThat(instance().directory()).isEqualTo(second.directory());
    }

    @Test
    void instancesThatStartTogetherShareOneServer() {
        List<CompletableFuture<SharedServer>> starting = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            starting.add(CompletableFuture.supplyAsync(this::open));
        }
        starting.forEach(instance -> instances.add(instance.join()));

        assertThat(instances)
                .extracting(SharedServer::directory)
                .containsOnly(instances.get(0).directory());
    }

    @Test
    void serverWithoutAnyInstanceEndsAtOnce() throws IOException {
        StartedServer started = StartedServer.start(kind, port);
        started.close();

        await().atMost(LONG)
                .untilAsserted(() -> assertThat(started.directory().path()).doesNotExist());
    }

    @Test
    void instancesThatAreLeftStartADeadServerAgain() throws IOException {
        SharedServer first = instance();
        SharedServer second = instance();
        ServerDirectory dead = first.directory();
        crash(dead);

        await().atMost(LONG).untilAsserted(() -> {
            assertThat(first.directory()).isNotEqualTo(dead).isEqualTo(second.directory());
            assertThat(dead.path()).doesNotExist();
            assertThat(rejoins).hasValue(2);
        });
        Optional<Membership> joined = join();
        assertThat(joined).isPresent();
        joined.get().close();
    }

    @Test
    void cutConnectionLeadsBackToTheSameServer() throws IOException {
        SharedServer instance = instance();
        ServerDirectory directory = instance.directory();
        cutConnection();

        await().atMost(LONG).untilAsserted(() -> assertThat(rejoins).hasValue(1));
        assertThat(instance.directory()).isEqualTo(directory);
    }

    @Test
    void foreignServiceOnThePortIsNamed() throws IOException {
        try (ServerSocket service = new ServerSocket()) {
            service.bind(ServerKind.address(port));
            CompletableFuture<Void> answer = CompletableFuture.runAsync(() -> answerAsWebServer(service));

            assertThatThrownBy(this::instance)
                    .isInstanceOf(PortTakenException.class)
                    .hasMessageContaining("" + port)
                    .hasMessageContaining("not a %s server", kind.title());
            answer.join();
        }
    }

    @Test
    void takenPortIsExplainedWithTheSettingsThatHelp() {
        PortTakenException taken = new PortTakenException(kind, port, Optional.empty());

        assertThat(new PortTakenFailureAnalyzer().analyze(taken))
                .satisfies(analysis ->
                        assertThat(analysis.getAction()).contains(kind.portSetting(), kind.settingsOfAnother()));
    }

    final SharedServer instance() {
        SharedServer instance = open();
        instances.add(instance);
        return instance;
    }

    private SharedServer open() {
        return new SharedServer(kind, port, rejoins::incrementAndGet);
    }

    private Optional<Membership> join() throws IOException {
        return Membership.join(kind, port);
    }

    private static void answerAsWebServer(ServerSocket service) {
        try (Socket client = service.accept()) {
            client.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
