package io.github.distributedpermit.harness.fleet;

import java.io.IOException;
import java.net.Socket;

/**
 * One connection of a member and the connection that carries it on to the server.
 *
 * @param member the side of whoever connected
 * @param server the side of the server
 * @param source the address from which it was connected
 */
record ProxyLink(Socket member, Socket server, String source) {

    ProxyLink(Socket member) {
        this(member, new Socket(), member.getInetAddress().getHostAddress());
    }

    void reset() {
        reset(member);
        reset(server);
    }

    boolean isClosed() {
        return server.isClosed();
    }

    /** With a time to linger of 0 the other side is sent a reset instead of an end. */
    static void reset(Socket socket) {
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
