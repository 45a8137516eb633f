package io.github.distributedpermit.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import com.example.page.Workers;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.endpoint.PermitsEndpoint;
import io.github.distributedpermit.endpoint.PermitsView;
import io.github.distributedpermit.endpoint.PermitsView.Detail;
import io.github.distributedpermit.endpoint.PermitsView.Instance;
import io.github.distributedpermit.spi.PermitAccess;
import io.github.distributedpermit.spi.PermitBackend;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** Clients that ask for the stream of the page over a real connection and never read from it. */
class StalledSocketsTest {

    private static final int STALLED = 10;
    private static final int EVENTS = 12;
    private static final int SMALL_BUFFER = 4_096;

    /** States that are produced for a client that does not read; the first ones are in the buffers of the system. */
    private static final int MOST_STATES = 8;

    private static final int PATIENCE_MILLIS = 30_000;

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void takeNoFurtherStatesAndDoNotDelayOtherClients(WebApplicationType type) throws Exception {
        LargeStates states = new LargeStates();
        List<Socket> sockets = new ArrayList<>();
        try (ConfigurableApplicationContext context = instance(type, states)) {
            int port = Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
            for (int i = 0; i < STALLED; i++) {
                sockets.add(request(port, "/actuator/permitsui/events/stalled-" + i));
            }
            Socket reading = request(port, "/actuator/permitsui/events/reading");
            sockets.add(reading);
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(reading.getInputStream(), StandardCharsets.UTF_8));
            for (int events = 0; events < EVENTS; ) {
                String line = lines.readLine();
                assertThat(line).as("the stream of the client that reads").isNotNull();
                events += line.startsWith("data:") ? 1 : 0;
            }

            for (int i = 0; i < STALLED; i++) {
                assertThat(states.made.get("stalled-" + i))
                        .as("states for client %d", i)
                        .isBetween(1, MOST_STATES);
            }
            Socket other = request(port, "/actuator/permits");
            sockets.add(other);
            assertThat(new BufferedReader(new InputStreamReader(other.getInputStream(), StandardCharsets.UTF_8))
                            .readLine())
                    .contains("200");
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    private static Socket request(int port, String path) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(SMALL_BUFFER);
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.getOutputStream()
                .write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static ConfigurableApplicationContext instance(WebApplicationType type, PermitsEndpoint permits) {
        LocalPermitBackend store = new LocalPermitBackend();
        return new SpringApplicationBuilder(Workers.class)
                .web(type)
                .initializers((GenericApplicationContext each) -> {
                    each.registerBean(PermitBackend.class, () -> store);
                    each.registerBean(
                            PermitsUiEndpoint.class,
                            () -> new PermitsUiEndpoint(permits, false, each.getBean(EventStreams.class)));
                })
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "server.shutdown=immediate",
                        "spring.lifecycle.timeout-per-shutdown-phase=100ms",
                        "spring.main.banner-mode=off",
                        "management.endpoints.web.exposure.include=permits,permitsui")
                .run();
    }

    /** States that fill the buffers of a connection soon, except for the client that reads. */
    private static final class LargeStates extends PermitsEndpoint {

        private static final String LARGE = "x".repeat(2 << 20);

        private final Map<String, Integer> made = new ConcurrentHashMap<>();

        LargeStates() {
            super(mock(PermitAccess.class), Duration.ofSeconds(1));
        }

        @Override
        public PermitsView permits() {
            return new PermitsView("local", new Instance("m", "one"), List.of(), false);
        }

        @Override
        public Detail permit(String name, @Nullable String key, @Nullable Integer most) {
            made.merge(name, 1, Integer::sum);
            String hint = name.equals("reading") ? "" : LARGE;
            return new Detail(new Instance("m", "one"), name, 1, "settings", 0, 0, 0, List.of(), false, hint);
        }
    }
}
