package io.github.distributedpermit.backend.redis;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** A proxy whose present connections can stop to carry data while new ones work, or that closes its connections. */
final class SilentProxy implements AutoCloseable {

    private static final int UNLIMITED = Integer.MAX_VALUE;

    private final List<Connection> connections = new CopyOnWriteArrayList<>();
    private final ServerSocket listener;
    private final int target;
    private volatile @Nullable String closesAfter;
    private volatile @Nullable HeldAnswer held;

    private record HeldAnswer(String text, CountDownLatch gate) {}

    SilentProxy(int target) {
        this.target = target;
        try {
            listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new IllegalStateException("No free port", e);
        }
        start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    /** From now on all connections are closed whenever an answer contains this text. */
    void closeConnectionsAfter(String text) {
        closesAfter = text;
    }

    /** The next answer that contains this text, and all after it on its connection, arrive when the gate is open. */
    CountDownLatch holdNextAnswerWith(String text) {
        CountDownLatch gate = new CountDownLatch(1);
        held = new HeldAnswer(text, gate);
        return gate;
    }

    /** How many connections were made so far. */
    int accepted() {
        return connections.size();
    }

    /** Present connections stay open and carry nothing more. */
    void silenceConnections() {
        cutAnswersAfter(0);
    }

    /** Of the answers on present connections only so many bytes arrive. */
    void cutAnswersAfter(int bytes) {
        connections.forEach(connection -> connection.left = bytes);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                connections.add(new Connection(client, new Socket(InetAddress.getLoopbackAddress(), target)));
            } catch (IOException e) {
                // closed, or the server is down
            }
        }
    }

    private void closeAfter(byte[] answer, int length) {
        String text = closesAfter;
        if (text != null && text(answer, length).contains(text)) {
            connections.forEach(Connection::close);
        }
    }

    private void awaitGate(byte[] answer, int length) {
        HeldAnswer next = held;
        if (next != null && text(answer, length).contains(next.text())) {
            held = null;
            try {
                next.gate().await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static String text(byte[] answer, int length) {
        return new String(answer, 0, length, StandardCharsets.ISO_8859_1);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "silent-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private static void quietly(Closeable closeable) {
        try {
            closeable.close();
        } catch (IOException e) {
            // it is not used any more
        }
    }

    @Override
    public void close() {
        quietly(listener);
        connections.forEach(Connection::close);
    }

    private final class Connection {

        private final Socket client;
        private final Socket server;

        /** Bytes of answers that still pass. */
        private volatile int left = UNLIMITED;

        Connection(Socket client, Socket server) {
            this.client = client;
            this.server = server;
            start(() -> relay(client, server, false));
            start(() -> relay(server, client, true));
        }

        private void relay(Socket from, Socket to, boolean answers) {
            byte[] buffer = new byte[8192];
            try (InputStream in = from.getInputStream();
                    OutputStream out = to.getOutputStream()) {
                for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                    if (answers) {
                        awaitGate(buffer, n);
                    }
                    int limit = left;
                    int passing = answers ? Math.min(n, limit) : limit == 0 ? 0 : n;
                    if (answers && limit != UNLIMITED) {
                        left = limit - passing;
                    }
                    out.write(buffer, 0, passing);
                    out.flush();
                    if (answers) {
                        closeAfter(buffer, n);
                    }
                }
            } catch (IOException e) {
                // one side has closed the connection; the other is closed as well
            }
            close();
        }

        void close() {
            quietly(client);
            quietly(server);
        }
    }
}
