package io.github.distributedpermit.harness.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The network between members and one server on this machine: passes on what both say, late, or not now, or not at all.
 * Thread-safe.
 */
public final class Proxy implements AutoCloseable {

    private static final int CHUNK = 16_384;
    private static final int BACKLOG = 200;

    /** A direction. */
    public enum Way {
        /** What members say. */
        TO_SERVER,
        /** What they are answered and told. */
        TO_MEMBERS
    }

    private enum Mood {
        PASSES,
        HOLDS,
        SWALLOWS
    }

    private final ServerSocket door;
    private final int server;
    private final List<Link> links = new CopyOnWriteArrayList<>();
    private final Map<Way, Mood> moods = new EnumMap<>(Way.class); // guarded by this
    private long swallowed; // guarded by this
    private volatile Duration delay = Duration.ZERO;

    private Proxy(ServerSocket door, int server) {
        this.door = door;
        this.server = server;
    }

    /** Listens on a free port of 127.0.0.1. */
    public static Proxy to(int server) {
        try {
            Proxy proxy = new Proxy(new ServerSocket(0, BACKLOG, InetAddress.getByName("127.0.0.1")), server);
            begin(proxy::accept);
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where members connect to. */
    public int port() {
        return door.getLocalPort();
    }

    /** Nothing arrives in these directions until all passes again; then it arrives, late. */
    public void hold(Set<Way> ways) {
        be(ways, Mood.HOLDS);
    }

    /** What is said in these directions is lost, so that the connections must be reset before all passes again. */
    public void swallow(Set<Way> ways) {
        be(ways, Mood.SWALLOWS);
    }

    private synchronized void be(Set<Way> ways, Mood mood) {
        ways.forEach(way -> moods.put(way, mood));
        notifyAll();
    }

    /** Everything arrives at once. */
    public synchronized void pass() {
        moods.clear();
        delay = Duration.ZERO;
        notifyAll();
    }

    /** Everything takes so much longer, in each direction. */
    public void delay(Duration by) {
        delay = by;
    }

    /** How many bytes were lost so far. */
    public synchronized long swallowed() {
        return swallowed;
    }

    /** Ends all connections, to both sides, with what is still on its way. Returns how many there were. */
    public int reset() {
        List<Link> now = List.copyOf(links);
        now.forEach(Link::reset);
        synchronized (this) {
            notifyAll();
        }
        return now.size();
    }

    private void accept() {
        while (!door.isClosed()) {
            try {
                Socket member = door.accept();
                begin(() -> connect(member));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void connect(Socket member) {
        Link link = new Link(member, new Socket());
        links.add(link);
        try {
            link.server.connect(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), server));
            member.setTcpNoDelay(true);
            link.server.setTcpNoDelay(true);
            begin(() -> pump(link, link.server, member, Way.TO_MEMBERS));
            pump(link, member, link.server, Way.TO_SERVER);
        } catch (IOException e) {
            end(link);
        }
    }

    private void pump(Link link, Socket from, Socket to, Way way) {
        byte[] chunk = new byte[CHUNK];
        ExecutorService sender = Executors.newSingleThreadExecutor(Proxy::thread);
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                byte[] said = Arrays.copyOf(chunk, read);
                long due = System.nanoTime() + delay.toNanos();
                sender.execute(() -> send(link, way, said, due, out));
            }
        } catch (IOException e) {
            // one of the two has closed or was reset
        } finally {
            sender.execute(() -> end(link)); // what was said before comes first
            sender.shutdown();
        }
    }

    private void send(Link link, Way way, byte[] said, long due, OutputStream out) {
        try {
            TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
            if (arrives(link, way, said.length)) {
                out.write(said);
            }
        } catch (IOException e) {
            end(link);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean arrives(Link link, Way way, int bytes) throws InterruptedException {
        while (moods.get(way) == Mood.HOLDS && !link.server.isClosed()) {
            wait();
        }
        if (moods.get(way) == Mood.SWALLOWS) {
            swallowed += bytes;
            return false;
        }
        return true;
    }

    private void end(Link link) {
        links.remove(link);
        link.reset();
    }

    private static void begin(Runnable task) {
        thread(task).start();
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "proxy");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void close() {
        try {
            door.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        reset();
    }

    /** A member's connection and the one that carries it on. */
    private record Link(Socket member, Socket server) {

        void reset() {
            reset(member);
            reset(server);
        }

        /** With a time to linger of 0 the other side is sent a reset instead of an end. */
        private static void reset(Socket socket) {
            try {
                if (!socket.isClosed()) {
                    socket.setSoLinger(true, 0);
                    socket.close();
                }
            } catch (IOException e) {
                // closed meanwhile
            }
        }
    }
}
