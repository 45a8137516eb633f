package io.github.distributedpermit.harness.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against a server that sends back what it receives. */
class ProxyTest {

    private static final int PATIENCE = 30_000;
    private static final int SILENCE = 200;

    private ServerSocket server;
    private Proxy proxy;

    @BeforeEach
    void start() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        proxy = Proxy.to(server.getLocalPort());
        Thread accepting = new Thread(this::accept, "echo");
        accepting.setDaemon(true);
        accepting.start();
    }

    private void accept() {
        while (true) {
            try {
                Socket socket = server.accept();
                Thread echo = new Thread(() -> echo(socket), "echo");
                echo.setDaemon(true);
                echo.start();
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private static void echo(Socket socket) {
        try (socket) {
            socket.getInputStream().transferTo(socket.getOutputStream());
        } catch (IOException e) {
            // closed by the other side
        }
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
        server.close();
    }

    private Socket connect(String source) throws IOException {
        return connect(source, PATIENCE);
    }

    private Socket connect(String source, int timeout) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(source, 0));
        socket.connect(new InetSocketAddress("127.0.0.1", proxy.port()), timeout);
        socket.setSoTimeout(PATIENCE);
        return socket;
    }

    private static String echo(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        return new String(socket.getInputStream().readNBytes(text.length()), StandardCharsets.US_ASCII);
    }

    private static void assertSilent(Socket socket) throws IOException {
        socket.setSoTimeout(SILENCE);
        assertThatThrownBy(() -> echo(socket, "is there an answer?")).isInstanceOf(SocketTimeoutException.class);
        socket.setSoTimeout(PATIENCE);
    }

    @Test
    void hostThatVanishedAnswersNeitherOldConnectionsNorAttemptsToConnect() throws Exception {
        try (Socket old = connect("127.0.0.1")) {
            assertThat(echo(old, "before")).isEqualTo("before");
            proxy.vanish();
            assertSilent(old);
            assertThatThrownBy(() -> connect("127.0.0.1", SILENCE).close()).isInstanceOf(SocketTimeoutException.class);

            proxy.heal();
            assertThatThrownBy(() -> echo(old, "what was lost does not come back"))
                    .isInstanceOf(IOException.class);
            try (Socket fresh = connect("127.0.0.1")) {
                assertThat(echo(fresh, "after")).isEqualTo("after");
            }
        }
    }

    @Test
    void someAddressesCanBeCutOff() throws Exception {
        try (Socket member = connect("127.0.0.1");
                Socket sentinel = connect("127.0.0.2")) {
            assertThat(echo(sentinel, "before")).isEqualTo("before");
            proxy.drop(Set.of("127.0.0.2"));
            assertSilent(sentinel);
            assertThat(echo(member, "during")).isEqualTo("during");
            try (Socket another = connect("127.0.0.2")) {
                assertSilent(another);
            }
        }
    }

    @Test
    void whatIsSentToLaggingAddressesArrivesLaterOrIsLostWithTheConnection() throws Exception {
        try (Socket member = connect("127.0.0.1");
                Socket replica = connect("127.0.0.3")) {
            proxy.lag(Set.of("127.0.0.3"));
            assertSilent(replica);
            assertThat(echo(member, "meanwhile")).isEqualTo("meanwhile");
            proxy.catchUp();
            assertThat(new String(replica.getInputStream().readNBytes(19), StandardCharsets.US_ASCII))
                    .isEqualTo("is there an answer?");

            proxy.lag(Set.of("127.0.0.3"));
            assertSilent(replica);
            proxy.reset("127.0.0.3"::equals);
            proxy.catchUp();
            assertThatThrownBy(() -> echo(replica, "it is lost")).isInstanceOf(IOException.class);
        }
    }

    @Test
    void forgottenConnectionsAreSilentAndNewOnesWork() throws Exception {
        try (Socket old = connect("127.0.0.1")) {
            assertThat(echo(old, "before")).isEqualTo("before");
            assertThat(proxy.forget()).isOne();
            assertSilent(old);
            try (Socket fresh = connect("127.0.0.1")) {
                assertThat(echo(fresh, "after")).isEqualTo("after");
            }
        }
    }

    @Test
    void answerIsCutInTheMiddleAndItsConnectionStaysOpen() throws Exception {
        try (Socket struck = connect("127.0.0.1");
                Socket other = connect("127.0.0.1")) {
            assertThat(echo(other, "before")).isEqualTo("before");
            proxy.cutReply();
            struck.getOutputStream().write("12345678".getBytes(StandardCharsets.US_ASCII));
            assertThat(struck.getInputStream().readNBytes(4)).hasSize(4);
            assertSilent(struck);
            assertThat(proxy.cut()).isOne();
            assertThat(echo(other, "after")).isEqualTo("after");
        }
    }
}
