package io.github.distributedpermit.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** One port that leads to servers on this machine: each new connection to the one named last. Thread-safe. */
public final class Detour implements AutoCloseable {

    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "detour");
        thread.setDaemon(true);
        return thread;
    });
    private final Queue<Socket> open = new ConcurrentLinkedQueue<>();
    private final ServerSocket listening;
    private volatile int target;

    /** Listens on a free port of the loopback interface. */
    public Detour(int target) {
        this.target = target;
        try {
            listening = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        threads.execute(this::accept);
    }

    /** Where it listens on 127.0.0.1. */
    public int port() {
        return listening.getLocalPort();
    }

    /** From now on new connections lead to this port. Those that are open stay as they are. */
    public void to(int port) {
        target = port;
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket client = listening.accept();
                Socket server = new Socket("127.0.0.1", target);
                open.add(client);
                open.add(server);
                threads.execute(() -> pump(client, server));
                threads.execute(() -> pump(server, client));
            } catch (IOException e) {
                Thread.onSpinWait(); // closed, or no server is there
            }
        }
    }

    private static void pump(Socket from, Socket to) {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            Thread.onSpinWait(); // one of them has closed the connection
        }
    }

    @Override
    public void close() {
        threads.shutdown();
        try {
            listening.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
