package io.github.distributedpermit.harness.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Accepts connections on a free port of 127.0.0.1. While it is shut, an attempt to connect gets no answer at all, as if
 * the packets were dropped: Linux drops a SYN while the queue of connections to accept is full, so nothing is accepted and
 * the queue is filled with connections of its own. Thread-safe.
 */
final class Door implements AutoCloseable {

    private static final int BACKLOG = 50;
    private static final int LOOK_MILLIS = 50;
    private static final int DROPPED_MILLIS = 100;

    private final ServerSocket socket;
    private final List<Socket> fillers = new ArrayList<>(); // guarded by this
    private final Set<Integer> fillerPorts = ConcurrentHashMap.newKeySet();
    private boolean shut; // guarded by this
    private boolean resting; // guarded by this

    Door() {
        try {
            socket = new ServerSocket(0, BACKLOG, InetAddress.getByName("127.0.0.1"));
            socket.setSoTimeout(LOOK_MILLIS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int port() {
        return socket.getLocalPort();
    }

    /** Accepts until it is closed. */
    void serve(Consumer<Socket> guests) {
        try {
            while (!socket.isClosed()) {
                awaitOpen();
                try {
                    Socket guest = socket.accept();
                    if (fillerPorts.remove(guest.getPort())) {
                        guest.close();
                    } else {
                        guests.accept(guest);
                    }
                } catch (SocketTimeoutException e) {
                    continue; // looks whether it is shut meanwhile
                }
            }
        } catch (IOException e) {
            // closed
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void awaitOpen() throws InterruptedException {
        resting = shut;
        notifyAll();
        while (shut) {
            wait();
        }
        resting = false;
    }

    /** From now on attempts to connect get no answer. */
    synchronized void shut() throws InterruptedException {
        shut = true;
        while (!resting) {
            wait();
        }
        InetSocketAddress here = new InetSocketAddress(socket.getInetAddress(), port());
        try {
            while (true) {
                Socket filler = new Socket();
                filler.bind(null);
                fillerPorts.add(filler.getLocalPort());
                fillers.add(filler);
                filler.connect(here, DROPPED_MILLIS);
            }
        } catch (SocketTimeoutException e) {
            // the queue is full
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** It accepts again. */
    synchronized void open() {
        fillers.forEach(ProxyLink::reset);
        fillers.clear();
        shut = false;
        notifyAll();
    }

    @Override
    public void close() {
        open();
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
