package io.github.distributedpermit.testsupport;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

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
    private boolean silent; // guarded by this
    private volatile long delayNanos;

    /** Bytes that were read, and when they are to be written; none at the end. */
    private record Chunk(byte[] bytes, long due) {}

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

    /** Passes nothing on, also on new connections, until {@link #resume}: as if the server were frozen. */
    public synchronized void silence() {
        silent = true;
    }

    /** What was held back arrives now. */
    public synchronized void resume() {
        silent = false;
        notifyAll();
    }

    /** Passes what is read from now on only after this time, as a slow network. */
    public void delay(Duration time) {
        delayNanos = time.toNanos();
    }

    private synchronized void awaitVoice() throws InterruptedException {
        while (silent) {
            wait();
        }
    }

    private void pump(Socket from, Socket to) {
        BlockingQueue<Chunk> chunks = new LinkedBlockingQueue<>();
        threads.execute(() -> write(chunks, to));
        byte[] buffer = new byte[8192];
        try (from) {
            InputStream in = from.getInputStream();
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                chunks.add(new Chunk(Arrays.copyOf(buffer, length), System.nanoTime() + delayNanos));
            }
        } catch (IOException e) {
            Thread.onSpinWait(); // one of them has closed the connection
        } finally {
            chunks.add(new Chunk(new byte[0], System.nanoTime() + delayNanos));
        }
    }

    private void write(BlockingQueue<Chunk> chunks, Socket to) {
        try (to) {
            OutputStream out = to.getOutputStream();
            for (Chunk next = chunks.take(); next.bytes.length > 0; next = chunks.take()) {
                TimeUnit.NANOSECONDS.sleep(next.due - System.nanoTime());
                awaitVoice();
                out.write(next.bytes);
            }
        } catch (IOException e) {
            Thread.onSpinWait(); // one of them has closed the connection
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the detour is closed
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
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
