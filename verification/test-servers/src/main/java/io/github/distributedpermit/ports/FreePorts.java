package io.github.distributedpermit.ports;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports that no server listens on. The system gives none of them to a connection or to a socket that binds port 0, so they are
 * still free when a server binds them some time later. Thread-safe.
 */
public final class FreePorts {

    private static final int FIRST = 10_000;
    private static final int LAST = 19_999;
    private static final int ATTEMPTS = 10_000;

    private FreePorts() {}

    /** Different free ports of 127.0.0.1. */
    public static List<Integer> some(int count) {
        return on("127.0.0.1", count);
    }

    /** So many of an address, all different: each is kept until all are known, since chance may name one twice. */
    public static List<Integer> on(String host, int count) {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                sockets.add(bound(InetAddress.getByName(host)));
            }
            List<Integer> ports =
                    sockets.stream().map(ServerSocket::getLocalPort).toList();
            for (ServerSocket socket : sockets) {
                socket.close();
            }
            return ports;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ServerSocket bound(InetAddress address) throws IOException {
        BindException last = new BindException("No attempt was made");
        for (int i = 0; i < ATTEMPTS; i++) {
            try {
                return new ServerSocket(ThreadLocalRandom.current().nextInt(FIRST, LAST + 1), 1, address);
            } catch (BindException e) {
                last = e; // in use
            }
        }
        throw last;
    }
}
