package io.github.distributedpermit.benchmark.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * The network between clients and a server on this machine: what is sent in either direction arrives later by half of the
 * round trip, however much is under way. Adds a thread for each end and direction, the same for all contenders. Thread-safe.
 */
public final class Distance implements AutoCloseable {

    private static final int CHUNK = 16_384;

    /** How late the operating system wakes a parked thread, in nanoseconds; the rest of the time is spent spinning. */
    private static final long WAKE_UP = 60_000;

    private final ServerSocket door;
    private final int server;
    private final long oneWay;

    private Distance(ServerSocket door, int server, long oneWay) {
        this.door = door;
        this.server = server;
        this.oneWay = oneWay;
    }

    /** Listens on a free port of the loopback interface, and passes on to the port of the server. */
    public static Distance of(Duration roundTrip, int server) throws IOException {
        ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Distance distance = new Distance(door, server, roundTrip.toNanos() / 2);
        begin("accept", distance::accept);
        return distance;
    }

    /** Where clients connect to. */
    public int port() {
        return door.getLocalPort();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = door.accept();
            Socket upstream = new Socket(InetAddress.getLoopbackAddress(), server);
            carry(client, upstream);
            carry(upstream, client);
        }
    }

    private void carry(Socket from, Socket to) throws IOException {
        to.setTcpNoDelay(true);
        BlockingQueue<Parcel> underWay = new LinkedBlockingQueue<>();
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        begin("read", () -> {
            byte[] chunk = new byte[CHUNK];
            int length = read(in, chunk);
            for (; length >= 0; length = read(in, chunk)) {
                underWay.add(new Parcel(Arrays.copyOf(chunk, length), System.nanoTime() + oneWay));
            }
            underWay.add(new Parcel(new byte[0], 0));
        });
        begin("write", () -> {
            try (from;
                    to) {
                for (Parcel next = underWay.take(); next.bytes.length > 0; next = underWay.take()) {
                    await(next.due);
                    out.write(next.bytes);
                }
            }
        });
    }

    /** The end if the connection was reset: whoever resets it wants nothing more. */
    private static int read(InputStream in, byte[] chunk) {
        try {
            return in.read(chunk);
        } catch (IOException e) {
            return -1;
        }
    }

    private static void await(long due) {
        for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
            if (left > WAKE_UP) {
                LockSupport.parkNanos(left - WAKE_UP);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    private static void begin(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException e) {
                        // the door or a connection was closed: the run or one of its clients has ended
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "distance-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        door.close();
    }

    private interface Work {

        void run() throws IOException, InterruptedException;
    }

    /** Bytes and when they arrive. */
    private record Parcel(byte[] bytes, long due) {}
}
