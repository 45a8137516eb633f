package io.github.distributedpermit.ports;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/** Ports that no server listens on. Thread-safe. */
public final class FreePorts {

    private FreePorts() {}

    /** Different free ports of 127.0.0.1. */
    public static List<Integer> some(int count) {
        return on("127.0.0.1", count);
    }

    /** So many of an address, all different: each is kept until all are known, since the system may name one twice. */
    public static List<Integer> on(String host, int count) {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                sockets.add(new ServerSocket(0, 1, InetAddress.getByName(host)));
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
}
