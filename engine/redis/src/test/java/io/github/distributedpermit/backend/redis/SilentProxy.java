package io.github.distributedpermit.backend.redis;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A way to a server on which present connections can fall silent while new ones work. */
final class SilentProxy implements AutoCloseable {

    private static final int UNLIMITED = Integer.MAX_VALUE;

    private final List<Connection> connections = new CopyOnWriteArrayList<>();
    private final ServerSocket listener;
    private final int target;

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

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "silent-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private static void quietly(Closeable closeable) {
        try {
            closeable.close();
        } catch (IOException e) {
            // it is of no use either way
        }
    }

    @Override
    public void close() {
        quietly(listener);
        connections.forEach(Connection::close);
    }

    private static final class Connection {

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
                    int limit = left;
                    int passing = answers ? Math.min(n, limit) : limit == 0 ? 0 : n;
                    if (answers && limit != UNLIMITED) {
                        left = limit - passing;
                    }
                    out.write(buffer, 0, passing);
                    out.flush();
                }
            } catch (IOException e) {
                // one side has gone; so does the other
            }
            close();
        }

        void close() {
            quietly(client);
            quietly(server);
        }
    }
}
