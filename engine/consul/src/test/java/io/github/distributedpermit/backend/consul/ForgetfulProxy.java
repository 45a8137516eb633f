package io.github.distributedpermit.backend.consul;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A firewall that forgets connections on demand: what is sent over them vanishes, without a reset. New ones work. */
final class ForgetfulProxy implements AutoCloseable {

    private static final int BUFFER = 1 << 16;

    private final ServerSocket entry;
    private final URI target;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger most = new AtomicInteger();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final Set<Socket> forgotten = ConcurrentHashMap.newKeySet();
    private volatile CountDownLatch gate = new CountDownLatch(0);

    ForgetfulProxy(URI target) {
        this.target = target;
        try {
            entry = new ServerSocket(0, 500, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        threads.execute(this::accept);
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + entry.getLocalPort());
    }

    /** All connections that there are. */
    void forget() {
        forgotten.addAll(open);
    }

    /** Answers arrive only when they {@linkplain #pass may pass}. */
    void hold() {
        gate = new CountDownLatch(1);
    }

    void pass() {
        gate.countDown();
    }

    /** Connections that their client has not closed. */
    int open() {
        return open.size();
    }

    /** The most connections there were at a time. */
    int most() {
        return most.get();
    }

    private void accept() {
        while (!entry.isClosed()) {
            try {
                Socket client = entry.accept();
                Socket server = new Socket(target.getHost(), target.getPort());
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                open.add(client);
                most.accumulateAndGet(open.size(), Math::max);
                threads.execute(() -> pump(client, client, server));
                threads.execute(() -> pump(client, server, client));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void pump(Socket client, Socket from, Socket to) {
        byte[] buffer = new byte[BUFFER];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                if (to == client) {
                    gate.await();
                }
                if (!forgotten.contains(client)) {
                    out.write(buffer, 0, n);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // either side has gone
        } finally {
            if (from == client) {
                open.remove(client);
            }
            if (!forgotten.contains(client)) {
                close(from);
                close(to);
            }
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            entry.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        open.forEach(ForgetfulProxy::close);
        forgotten.forEach(ForgetfulProxy::close);
        threads.shutdownNow();
    }
}
