package io.github.distributedpermit.sample.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;

/** What differs between the servers that the sample brings along. Immutable. */
interface ServerKind {

    String HOST = "127.0.0.1";

    static InetSocketAddress address(int port) throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByAddress(HOST, new byte[] {127, 0, 0, 1}), port);
    }

    /** For messages. */
    String title();

    /** The setting with the port. */
    String portSetting();

    /** The settings with which the sample uses a server of the user instead. */
    String settingsOfAnother();

    /**
     * Connects to what listens on the port.
     *
     * @throws java.net.SocketException if no server listens
     * @throws java.io.EOFException if the server is starting or stopping
     * @throws java.net.ProtocolException if it is no server of this kind, or one that refuses
     */
    ServerLink open(int port) throws IOException;

    /** Puts what the server needs into the directory, and returns the command that runs it. */
    List<String> prepare(ServerDirectory directory, int port) throws IOException;

    /** The name of the signal that ends the server at once. */
    String stopSignal();
}
