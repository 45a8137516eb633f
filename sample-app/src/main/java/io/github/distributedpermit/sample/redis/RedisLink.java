package io.github.distributedpermit.sample.redis;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/**
 * One plain connection to whatever listens on a port of this machine. It stays open, so that its end tells at once that
 * the server has ended.
 */
final class RedisLink implements Closeable {

    static final String HOST = "127.0.0.1";

    private static final int TIMEOUT_MILLIS = 2_000;
    private static final int LONGEST_REPLY = 4_096;

    private final Socket socket;
    private final InputStream in;

    private RedisLink(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new BufferedInputStream(socket.getInputStream());
    }

    static InetSocketAddress address(int port) throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByAddress(HOST, new byte[] {127, 0, 0, 1}), port);
    }

    /** Connects, or fails with {@link java.net.ConnectException} if no server listens. */
    static RedisLink open(int port) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(address(port), TIMEOUT_MILLIS);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            return new RedisLink(socket);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** The directory the server runs in; empty if it is no Redis server or keeps that to itself. */
    Optional<Path> directory() throws IOException {
        socket.getOutputStream().write("CONFIG GET dir\r\n".getBytes(StandardCharsets.US_ASCII));
        // an array of two texts: "dir" and its value
        if (!line().equals("*2") || !text().equals("dir")) {
            return Optional.empty();
        }
        return Optional.of(Path.of(text()));
    }

    /** Returns when the connection has ended, whoever ended it. */
    void awaitEnd() {
        try {
            socket.setSoTimeout(0);
            in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // that is the end, too
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    private String text() throws IOException {
        line();
        return line();
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0 || line.size() > LONGEST_REPLY) {
                throw new EOFException("The reply ends without a line");
            }
            line.write(c);
        }
        return line.toString(StandardCharsets.UTF_8).strip();
    }
}
