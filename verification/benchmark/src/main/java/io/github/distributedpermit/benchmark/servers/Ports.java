package io.github.distributedpermit.benchmark.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Free ports. */
final class Ports {

    private static final int BUS_DISTANCE = 10_000;
    private static final int ATTEMPTS = 200;

    private Ports() {}

    static int free() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** A free port for a node of a Redis Cluster, whose bus uses the port {@value #BUS_DISTANCE} above it. */
    static int freeWithBus() throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            int port = free();
            if (port + BUS_DISTANCE < 65_536 && isFree(port + BUS_DISTANCE)) {
                return port;
            }
        }
        throw new IOException("There is no free port with a free one " + BUS_DISTANCE + " above it");
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
