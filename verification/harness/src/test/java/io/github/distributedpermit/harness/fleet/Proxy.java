package io.github.distributedpermit.harness.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * The network between members and one server on this machine: passes on what both say, late, or not now, or not at all.
 * Thread-safe.
 */
public final class Proxy implements AutoCloseable {

    private static final int CHUNK = 16_384;
    private static final int LEAST_REPLY = 8;

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

    private final Door door = new Door();
    private volatile int server;
    private final List<ProxyLink> links = new CopyOnWriteArrayList<>();
    private final Map<Way, Mood> moods = new EnumMap<>(Way.class); // guarded by this
    private final Set<ProxyLink> silent = new HashSet<>(); // guarded by this; for as long as they are open
    private Predicate<String> dropped = source -> false; // guarded by this
    private Predicate<String> lagging = source -> false; // guarded by this
    private boolean cutsNext; // guarded by this
    private int cut; // guarded by this
    private long swallowed; // guarded by this
    private volatile Duration delay = Duration.ZERO;
    private volatile boolean closed;

    private Proxy(int server) {
        this.server = server;
    }

    /** Listens on a free port of 127.0.0.1. */
    public static Proxy to(int server) {
        Proxy proxy = new Proxy(server);
        begin(() -> proxy.door.serve(member -> begin(() -> proxy.connect(member))));
        return proxy;
    }

    /** Where members connect to. */
    public int port() {
        return door.port();
    }

    /** Connections made from now on lead to another server. */
    public void leadTo(int other) {
        server = other;
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

    /** Drops what is said in either direction on connections from these addresses, old ones and new ones, until it heals. */
    public synchronized void drop(Set<String> sources) {
        dropped = sources::contains;
    }

    /**
     * What the server sends to these addresses is held back, while what they send arrives. Those connections end with what is
     * held back: {@link #reset(Predicate)}, or {@link #catchUp} first.
     */
    public synchronized void lag(Set<String> sources) {
        lagging = sources::contains;
    }

    /** What was held back from lagging addresses arrives. */
    public synchronized void catchUp() {
        lagging = source -> false;
        notifyAll();
    }

    /** Drops everything, attempts to connect as well: no end, no reset, no answer, until it heals. */
    public void vanish() throws InterruptedException {
        synchronized (this) {
            dropped = source -> true;
        }
        door.shut();
    }

    /** Nothing is dropped any more. The connections that were open meanwhile are reset, for they have lost something. */
    public void heal() {
        List<ProxyLink> harmed;
        synchronized (this) {
            harmed = links.stream().filter(link -> dropped.test(link.source())).toList();
            dropped = source -> false;
        }
        harmed.forEach(ProxyLink::reset);
        synchronized (this) {
            notifyAll();
        }
        door.open();
    }

    /** Drops without a word what is said on the connections there are now, for as long as they are; new ones work. */
    public synchronized int forget() {
        silent.addAll(links);
        return links.size();
    }

    /** The next answer is cut in the middle, and nothing more is said on its connection, which stays open. */
    public synchronized void cutReply() {
        cutsNext = true;
    }

    /** How many answers were cut so far. */
    public synchronized int cut() {
        return cut;
    }

    /** How many bytes were lost so far. */
    public synchronized long swallowed() {
        return swallowed;
    }

    /** Ends all connections, to both sides, with what is still on its way. Returns how many there were. */
    public int reset() {
        return reset(source -> true);
    }

    /** Likewise those that were made from such addresses. */
    public int reset(Predicate<String> which) {
        List<ProxyLink> now =
                links.stream().filter(link -> which.test(link.source())).toList();
        now.forEach(ProxyLink::reset);
        synchronized (this) {
            notifyAll();
        }
        return now.size();
    }

    private void connect(Socket member) {
        ProxyLink link = new ProxyLink(member);
        links.add(link);
        try {
            link.server().connect(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), server));
            member.setTcpNoDelay(true);
            link.server().setTcpNoDelay(true);
            begin(() -> pump(link, link.server(), member, Way.TO_MEMBERS));
            pump(link, member, link.server(), Way.TO_SERVER);
        } catch (IOException e) {
            end(link);
        }
    }

    private void pump(ProxyLink link, Socket from, Socket to, Way way) {
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

    private void send(ProxyLink link, Way way, byte[] said, long due, OutputStream out) {
        try {
            TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
            int arrives = arrives(link, way, said.length);
            if (arrives > 0) {
                out.write(said, 0, arrives);
            }
        } catch (IOException e) {
            end(link);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** How many of the bytes. */
    private synchronized int arrives(ProxyLink link, Way way, int bytes) throws InterruptedException {
        while (isHeld(link, way) && !link.isClosed()) {
            wait();
        }
        if (moods.get(way) == Mood.SWALLOWS || silent.contains(link) || dropped.test(link.source())) {
            swallowed += bytes;
            return 0;
        }
        if (cutsNext && way == Way.TO_MEMBERS && bytes >= LEAST_REPLY) {
            cutsNext = false;
            cut++;
            silent.add(link);
            return bytes / 2;
        }
        return bytes;
    }

    private synchronized boolean isHeld(ProxyLink link, Way way) {
        return moods.get(way) == Mood.HOLDS || (way == Way.TO_MEMBERS && lagging.test(link.source()));
    }

    /** One side has ended the connection; the other side is closed as well, unless what is sent between them is dropped. */
    private void end(ProxyLink link) {
        try {
            synchronized (this) {
                while (dropped.test(link.source()) && !closed) {
                    wait();
                }
                silent.remove(link);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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
        closed = true;
        door.close();
        reset();
    }
}
