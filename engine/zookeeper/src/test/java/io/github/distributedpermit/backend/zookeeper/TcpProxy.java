package io.github.distributedpermit.backend.zookeeper;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A wire to a server that can be cut, or made to swallow what comes back. */
final class TcpProxy implements AutoCloseable {

    private enum Mode {
        OPEN,
        /** What the server says is lost. */
        DEAF,
        /** Nothing passes, and neither side is notified. */
        SILENT,
        REFUSING
    }

    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final ServerSocket listener;
    private final int target;
    private volatile Mode mode = Mode.OPEN;

    TcpProxy(int target) {
        this.target = target;
        try {
            listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new IllegalStateException("No free port", e);
        }
        start(this::accept);
    }

    String connectString() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** From now on what clients send arrives, and the answers do not. */
    void loseAnswers() {
        mode = Mode.DEAF;
    }

    /** As if the process, or the network between, were dead: the server has to find out by itself. */
    void silence() {
        mode = Mode.SILENT;
    }

    /** Breaks the connections and refuses new ones. */
    void cut() {
        mode = Mode.REFUSING;
        breakConnections();
    }

    /** What was on its way is lost with its connections; new ones work. */
    void mend() {
        mode = Mode.OPEN;
        breakConnections();
    }

    private void breakConnections() {
        sockets.forEach(TcpProxy::quietly);
        sockets.clear();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                if (mode == Mode.REFUSING) {
                    quietly(client);
                } else {
                    connect(client);
                }
            } catch (IOException e) {
                // closed, or the server is down: the client finds a dead connection
            }
        }
    }

    private void connect(Socket client) throws IOException {
        sockets.add(client);
        try {
            Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
            sockets.add(server);
            start(() -> relay(client, server, false));
            start(() -> relay(server, client, true));
        } catch (IOException e) {
            quietly(client);
            throw e;
        }
    }

    private void relay(Socket from, Socket to, boolean answers) {
        byte[] buffer = new byte[8192];
        try (InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                if (mode == Mode.OPEN || (mode == Mode.DEAF && !answers)) {
                    out.write(buffer, 0, n);
                    out.flush();
                }
            }
        } catch (IOException e) {
            // one side has gone; so does the other
        }
        quietly(from);
        quietly(to);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "tcp-proxy");
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
        breakConnections();
    }
}
